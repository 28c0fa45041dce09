import type { ConnectorCode } from '@connector-frame/engine/connector-api';
import { azureDataExplorerOutput } from './azure-data-explorer/index.js';
import { dynamoDbOutput } from './amazon-dynamodb/index.js';
import { securityLakeOutput } from './aws-security-lake/index.js';
import { sqsOutput } from './aws-sqs/index.js';
import { azureEventHubsInput } from './azure-event-hubs/index.js';
import {
  azureBlobStorageInput,
  azureBlobStorageOutput,
  azurePlatformLogsInput,
  azureVnetFlowLogsInput,
} from './azure/index.js';
import { backblazeOutput } from './backblaze/index.js';
import { bigQueryInput, bigQueryScheduledInput } from './bigquery/index.js';
import { cidrEnrichment } from './cidr/index.js';
import { crowdstrikeEventStreamInput } from './crowdstrike/index.js';
import { csvTableEnrichment } from './csv-table/index.js';
import { datadogAgentInput } from './datadog-agent/index.js';
import { databendOutput } from './databend/index.js';
import { databricksAuditInput, databricksOutput } from './databricks/index.js';
import { datadogOutput } from './datadog/index.js';
import { demoInput } from './demo/index.js';
import { devNullOutput } from './dev-null/index.js';
import { dnstapInput } from './dnstap/index.js';
import { dorisOutput } from './doris/index.js';
import { elasticsearchOutput } from './elasticsearch/index.js';
import { emailSmtpOutput } from './email-smtp/index.js';
import { fileOutput } from './file/index.js';
import { fluentdInput } from './fluentd/index.js';
import { geoipEnrichment, geolocusEnrichment } from './geoip/index.js';
import { githubWorkflowLogsInput } from './github-workflow-logs/index.js';
import { githubAuditLogsInput } from './github/index.js';
import { googleCloudPubSubInput } from './google-cloud-pubsub/index.js';
import { googleCloudStorageInput, googleCloudStorageOutput } from './google-cloud-storage/index.js';
import { googleDriveFilesInput } from './google-drive/index.js';
import { greynoiseCommunityEnrichment } from './greynoise/index.js';
import { httpLookupEnrichment } from './http-lookup/index.js';
import { httpOutput } from './http/index.js';
import { influxOutput } from './influxdb/index.js';
import { kafkaInput, kafkaOutput } from './kafka/index.js';
import { kvLookupEnrichment, kvLookupOutput } from './kv-lookup/index.js';
import { logstashInput } from './logstash/index.js';
import { sharePointFilesInput } from './microsoft-sharepoint/index.js';
import { monadApiActivityInput } from './monad-api-activity/index.js';
import { monadAlertsInput } from './monad-alerts/index.js';
import { monadHttpInput } from './monad-http/index.js';
import { monadOtelInput } from './monad-otel/index.js';
import { monadSyslogInput } from './monad-syslog/index.js';
import { oktaSystemLogInput } from './okta/index.js';
import { mqttInput, mqttOutput } from './mqtt/index.js';
import { mssqlInput, mssqlOutput } from './mssql/index.js';
import { mysqlInput, mysqlOutput } from './mysql/index.js';
import { natsInput, natsOutput } from './nats/index.js';
import { opensearchOutput } from './opensearch/index.js';
import { otelOutput } from './otel/index.js';
import { pagerDutyOutput } from './pagerduty/index.js';
import { postgresqlInput, postgresqlOutput } from './postgresql/index.js';
import { prometheusOutput } from './prometheus/index.js';
import { objectStorageInput, objectStorageOutput, s3Input, s3Output } from './s3/index.js';
import { rabbitInput, rabbitOutput } from './rabbitmq/index.js';
import { redisInput, redisOutput } from './redis/index.js';
import { scannerOutput } from './scanner/index.js';
import { sematextOutput } from './sematext/index.js';
import { redshiftInput, redshiftOutput } from './redshift/index.js';
import { sentinelOutput } from './sentinel/index.js';
import { slackOutput } from './slack/index.js';
import { splunkHecInput } from './splunk-hec/index.js';
import { snowflakeInput, snowflakeOutput, snowpipeStreamingOutput } from './snowflake/index.js';
import { splunkOutput } from './splunk/index.js';
import { papertrailOutput, qradarOutput, syslogOutput } from './syslog/index.js';
import { vectorOutput } from './vector/index.js';
import { wazuhOutput } from './wazuh/index.js';
import { demoCustomInput } from './demo-custom/index.js';
import { hdfsOutput } from './hdfs/index.js';
import { httpPollInput } from './http-poll/index.js';
import { imapMailboxInput } from './imap-mailbox/index.js';
import { proofpointOnDemandEventsInput } from './proofpoint-on-demand/index.js';
import { retarusEmailEventsInput } from './retarus/index.js';
import { sftpInput, sftpOutput } from './sftp/index.js';
import { websocketOutput } from './websocket/index.js';

/**
 * Connector code by kind and type id: `input:okta-systemlog`. A type that is not listed has no
 * connection test or runtime of its own.
 */
export const registry: ReadonlyMap<string, ConnectorCode> = new Map([
  ['enrichment:cidr', cidrEnrichment],
  ['enrichment:csv-table', csvTableEnrichment],
  ['enrichment:geoip', geoipEnrichment],
  ['enrichment:geolocus', geolocusEnrichment],
  ['enrichment:greynoise-community', greynoiseCommunityEnrichment],
  ['enrichment:http-lookup', httpLookupEnrichment],
  ['enrichment:kv-lookup', kvLookupEnrichment],
  ['input:azure-blob-storage', azureBlobStorageInput],
  ['input:azure-event-hubs', azureEventHubsInput],
  ['input:azure-key-vault-logs', azurePlatformLogsInput],
  ['input:azure-network-watcher-logs', azurePlatformLogsInput],
  ['input:anthropic-claude-code', monadOtelInput],
  ['input:amazon-redshift', redshiftInput],
  ['input:bigquery', bigQueryInput],
  ['input:bigquery-cron', bigQueryScheduledInput],
  ['input:crowdstrike-event-stream', crowdstrikeEventStreamInput],
  ['input:datadog-agent', datadogAgentInput],
  ['input:databricks-audit-logs', databricksAuditInput],
  ['input:demo', demoInput],
  ['input:dnstap', dnstapInput],
  ['input:fluentd', fluentdInput],
  ['input:snowflake', snowflakeInput],
  ['input:demo-custom', demoCustomInput],
  ['input:github-actions-workflow-logs-webhook', githubWorkflowLogsInput],
  ['input:github-audit-logs', githubAuditLogsInput],
  ['input:google-cloud-pubsub', googleCloudPubSubInput],
  ['input:google-cloud-storage', googleCloudStorageInput],
  ['input:http-poll', httpPollInput],
  ['input:imap-mailbox', imapMailboxInput],
  ['input:google-drive-files', googleDriveFilesInput],
  ['input:kafka', kafkaInput],
  ['input:logstash', logstashInput],
  ['input:monad-alerts', monadAlertsInput],
  ['input:monad-api-activity', monadApiActivityInput],
  ['input:monad-http', monadHttpInput],
  ['input:monad-otel', monadOtelInput],
  ['input:monad-syslog', monadSyslogInput],
  ['input:microsoft-azure-vnet-flow-logs', azureVnetFlowLogsInput],
  ['input:microsoft-sharepoint-files', sharePointFilesInput],
  ['input:mqtt', mqttInput],
  ['input:mssql', mssqlInput],
  ['input:mysql', mysqlInput],
  ['input:nats', natsInput],
  ['input:object-storage', objectStorageInput],
  ['input:okta-systemlog', oktaSystemLogInput],
  ['input:openai-codex', monadOtelInput],
  ['input:postgresql', postgresqlInput],
  ['input:proofpoint-on-demand-events', proofpointOnDemandEventsInput],
  ['input:rabbitmq', rabbitInput],
  ['input:redis', redisInput],
  ['input:retarus-email-events', retarusEmailEventsInput],
  ['input:s3', s3Input],
  ['output:amazon-redshift', redshiftOutput],
  ['output:apache-doris', dorisOutput],
  ['output:azure-blob-storage', azureBlobStorageOutput],
  ['output:azure-data-explorer', azureDataExplorerOutput],
  ['input:splunk-hec', splunkHecInput],
  ['output:amazon-dynamodb', dynamoDbOutput],
  ['output:aws-security-lake', securityLakeOutput],
  ['output:aws-sqs', sqsOutput],
  ['output:backblaze-b2', backblazeOutput],
  ['output:databend', databendOutput],
  ['output:databricks-delta-table', databricksOutput],
  ['output:databricks-lakehouse', databricksOutput],
  ['output:databricks-lakewatch', databricksOutput],
  ['output:datadog', datadogOutput],
  ['output:snowflake', snowflakeOutput],
  ['output:snowflake-snowpipe-streaming', snowpipeStreamingOutput],
  ['output:dev-null', devNullOutput],
  ['output:elasticsearch', elasticsearchOutput],
  ['output:email-smtp', emailSmtpOutput],
  ['output:file', fileOutput],
  ['output:google-cloud-storage', googleCloudStorageOutput],
  ['output:hdfs', hdfsOutput],
  ['output:http', httpOutput],
  ['output:ibm-qradar', qradarOutput],
  ['output:influxdb', influxOutput],
  ['output:kafka', kafkaOutput],
  ['output:kv-lookup', kvLookupOutput],
  ['output:mqtt', mqttOutput],
  ['output:mssql', mssqlOutput],
  ['output:mysql', mysqlOutput],
  ['output:nats', natsOutput],
  ['output:msft-sentinel', sentinelOutput],
  ['output:object-storage', objectStorageOutput],
  ['output:opensearch', opensearchOutput],
  ['output:otel', otelOutput],
  ['output:pagerduty', pagerDutyOutput],
  ['output:papertrail', papertrailOutput],
  ['output:postgresql', postgresqlOutput],
  ['output:prometheus', prometheusOutput],
  ['output:rabbitmq', rabbitOutput],
  ['output:redis', redisOutput],
  ['output:s3', s3Output],
  ['output:scanner', scannerOutput],
  ['output:sematext', sematextOutput],
  ['output:sftp', sftpOutput],
  ['output:slack', slackOutput],
  ['output:splunk', splunkOutput],
  ['output:syslog', syslogOutput],
  ['output:vector', vectorOutput],
  ['output:wazuh', wazuhOutput],
  ['input:sftp', sftpInput],
  ['output:websocket', websocketOutput],
]);
