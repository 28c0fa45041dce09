import { expect, test } from 'vitest';
import { loadCatalog } from '@connector-frame/catalog';
import { createSearch } from '../../packages/element/src/catalog/search-types.js';

// What people type to find a product, over the catalog as it is released: names without spaces,
// abbreviations, names of old products, other companies' words for the same thing. Written from the
// vendors' own renames and from common search terms, not from the aliases in the data files. Each
// line: the query, and a type that must be among the first three, or a vendor (`=`) of the first.
const queries = {
  input: `
gsuite > google-workspace-admin-activity
g suite > google-workspace-admin-activity
google workspace > =Google
gws > google-workspace-admin-activity
google apps > google-workspace-admin-activity
gmail > google-workspace-gmail-activity
gdrive > google-workspace-drive-activity
google drive > google-drive-files
gcp > =Google Cloud
google cloud > =Google Cloud
gcp audit logs > google-cloud-logs
stackdriver > google-cloud-logs
gcs > google-cloud-storage
pubsub > google-cloud-pubsub
pub/sub > google-cloud-pubsub
bigquery > bigquery
big query > bigquery
gke > google-gke-audit-logs
looker > google-looker-audit-logs
azure ad > microsoft-graph-audit-logs
azuread > microsoft-graph-audit-logs
aad > microsoft-graph-audit-logs
azure active directory > microsoft-graph-audit-logs
active directory > microsoft-graph-audit-logs
entra > microsoft-graph-audit-logs
entra id > microsoft-graph-audit-logs
entraid > microsoft-graph-audit-logs
office 365 > =Microsoft
office365 > =Microsoft
o365 > =Microsoft
m365 > =Microsoft
microsoft 365 > =Microsoft
exchange > microsoft-365-exchange-audit-logs
exchange online > microsoft-365-exchange-audit-logs
message trace > microsoft-365-message-trace
sharepoint > microsoft-365-sharepoint-audit-logs
onedrive > microsoft-365-sharepoint-audit-logs
unified audit log > microsoft-365-general-audit-logs
purview > microsoft-365-general-audit-logs
defender > endpoint-alerts
defender for endpoint > endpoint-alerts
mde > endpoint-alerts
windows defender > endpoint-alerts
mcas > microsoft-defender-for-cloud-apps-alerts
azure security center > microsoft-defender-for-cloud-alerts
intune > microsoft-intune-audit-logs
azure sentinel > microsoft-sentinel-incidents
sentinel > microsoft-sentinel-incidents
teams > microsoft-teams-activity
msteams > microsoft-teams-activity
log analytics > microsoft-log-analytics-query
kql > microsoft-log-analytics-query
event hub > azure-event-hubs
eventhub > azure-event-hubs
azure storage > azure-blob-storage
key vault > azure-key-vault-logs
keyvault > azure-key-vault-logs
nsg flow logs > microsoft-azure-vnet-flow-logs
sql server > mssql
mariadb > mysql
postgres > postgresql
pg > postgresql
aurora > postgresql
mongo > mongodb
mongo atlas > mongodb-atlas-audit-logs
event log > windows-event-log
windows > windows-event-log
sysmon > windows-event-log
k8s > kubernetes-logs
kubernetes > kubernetes-logs
docker > docker-logs
journalctl > journald
systemd > journald
aws > =AWS
amazon > =AWS
amazon web services > =AWS
cloud trail > cloudtrail
cloudtrail > cloudtrail
s3 > s3
s3 bucket > s3
sqs > aws-sqs
alb > aws-alb-access-logs
elb > aws-alb-access-logs
load balancer > aws-alb-access-logs
flow logs > aws-vpc-flow-logs
vpc > aws-vpc-flow-logs
route53 > aws-route53-resolver-logs
guard duty > aws-guardduty
security hub > aws-security-hub-findings
security lake > aws-security-lake-events
ocsf > aws-security-lake-events
cloud watch > aws-cloudwatch-logs
cloudfront > aws-cloudfront-logs
waf > aws-waf-logs
eks > aws-eks-audit-logs
macie > aws-macie-findings
redshift > amazon-redshift
minio > object-storage
r2 > object-storage
cloudflare r2 > object-storage
wasabi > object-storage
okta > =Okta
okta logs > okta-systemlog
sso > okta-systemlog
auth0 > auth0-logs
one login > onelogin-events
onelogin > onelogin-events
jump cloud > jumpcloud-events
ping > pingone-audit-logs
ping identity > pingone-audit-logs
duo > =Cisco Duo
duo security > =Cisco Duo
mfa > =Cisco Duo
2fa > duo-security-auth-logs
1pass > 1password-events
one password > 1password-events
1 password > 1password-events
last pass > lastpass-events
bit warden > bitwarden-events
password manager > 1password-events
cyber ark > cyberark-audit-logs
thycotic > delinea-pra-audit-events
bomgar > beyondtrust-pra-sessions
crowd strike > =CrowdStrike
crowdstirke > =CrowdStrike
falcon > crowdstrike-event-stream
fdr > crowdstrike-falcon-data-replicator
humio > crowdstrike-falcon-logscale-events
logscale > crowdstrike-falcon-logscale-events
sentinelone > =SentinelOne
sentinel one > =SentinelOne
s1 > =SentinelOne
carbon black > carbon-black-edr-alerts
carbonblack > carbon-black-edr-alerts
cb response > carbon-black-edr-alerts
cisco amp > cisco-secure-endpoint-events
meraki > cisco-meraki-config-logs
fortigate > fortinet-fortigate-threat-logs
fortinet > =Fortinet
paloalto > =Palo Alto Networks
palo alto > =Palo Alto Networks
pan-os > palo-alto-panorama-threat-logs
panorama > palo-alto-panorama-threat-logs
demisto > palo-alto-cortex-xsoar-management-logs
xsoar > palo-alto-cortex-xsoar-management-logs
cortex xdr > palo-alto-cortex-xdr-alerts
prisma > palo-alto-prisma-cloud-alerts
twistlock > palo-alto-prisma-cloud-alerts
checkpoint > =Check Point
check point > =Check Point
zia > zscaler-zia-audit-logs
z scaler > zscaler-zia-audit-logs
netskope > netskope-events
cloudflare > =Cloudflare
cloud flare > =Cloudflare
incapsula > imperva-waf-logs
akamai > akamai-waf-logs
proofpoint > =Proofpoint
observeit > proofpoint-itm-alerts
mimecast > mimecast-email-security-events
mcafee > =Trellix
epo > trellix-epo-events
fireeye > =Trellix
symantec > symantec-icdx-events
blue coat > broadcom-cloud-swg-logs
trendmicro > =Trend Micro
vision one > =Trend Micro
sophos > sophos-central-events
cylance > cylance-threats
qualys > =Qualys
nessus > =Tenable
tenable.io > tenable-vulnerabilities
tenable.sc > tenable-security-center-vulnerabilities
nexpose > rapid7-insightvm-vulnerabilities
rapid 7 > =Rapid7
insightidr > rapid7-insightidr-investigations
intsights > rapid7-threat-command-alerts
nvd > nist-cve
cve > nist-cve
kev > cisa-kev
otx > alienvault-otx-indicators
misp > misp-attributes
stix > taxii-collection
virus total > virustotal-livehunt-notifications
recorded future > =Recorded Future
canary > thinkst-canary-incidents
jira > atlassian-jira-audit-logs
confluence > atlassian-confluence-audit-logs
ops genie > opsgenie-alerts
pager duty > pagerduty-incidents
github > =GitHub
git hub > =GitHub
copilot > github-copilot-logs
dependabot > github-dependabot-alerts
git lab > gitlab-audit-events
terraform > hashicorp-terraform-cloud-audit-trails
terraform cloud > hashicorp-terraform-cloud-audit-trails
claude > =Anthropic
chatgpt > =OpenAI
chat gpt > =OpenAI
gemini > google-workspace-gemini-activity
sfdc > =Salesforce
salesforce > =Salesforce
service now > servicenow-universal
snow > servicenow-universal
workday > workday-user-activity
bamboo hr > bamboohr-employees
hris > bamboohr-employees
slack > =Slack
zoom > =Zoom
send grid > twilio-sendgrid-email-activity
oci > oracle-audit-logs
syslog > monad-syslog
rsyslog > monad-syslog
cef > monad-syslog
webhook > monad-http
rest api > http-poll
otel > monad-otel
otlp > monad-otel
hec > splunk-hec
filebeat > logstash
fluent bit > fluentd
fluentbit > fluentd
kafka > kafka
confluent > kafka
msk > kafka
redpanda > kafka
amqp > rabbitmq
rabbit mq > rabbitmq
jetstream > nats
mosquitto > mqtt
valkey > redis
ftp > sftp
email > imap-mailbox
sample data > demo
osquery > fleetdm-activity-logs
mdm > =Jamf
wiz > =Wiz
dark trace > =Darktrace
vectra > =Vectra AI
snyk > =Snyk
sonarqube > sonarqube-cloud-issues
hugging face > hugging-face-datasets
monday > monday-activity-logs
`,
  output: `
splunk > splunk
http event collector > splunk
data dog > datadog
elastic > elasticsearch
elk > elasticsearch
chronicle > google-secops
sentinel > msft-sentinel
qradar > ibm-qradar
q radar > ibm-qradar
snow flake > snowflake
snowpipe > snowflake-snowpipe-streaming
delta lake > databricks-delta-table
iceberg > s3-data-lake
kinesis > aws-kinesis-data-streams
firehose > aws-data-firehose
dynamo > amazon-dynamodb
kusto > azure-data-explorer
log analytics > azure-monitor-logs
loki > grafana-loki
remote write > prometheus
sumo > sumologic
slack > slack
ms teams > microsoft-teams
smtp > email-smtp
webhook > http
otlp > otel
newrelic > new-relic
click house > clickhouse
jira > jira
blackhole > dev-null
`,
};

test.each(['input', 'output'] as const)('%s: what people type finds the type they mean', (kind) => {
  const types = loadCatalog().list(kind);
  const search = createSearch(types.map(({ icon = null, ...type }) => ({ ...type, icon })));
  const vendorOf = (id: string | undefined) => types.find((type) => type.type_id === id)?.vendor;
  const lines = queries[kind].trim().split('\n');
  const missed = lines.flatMap((line) => {
    const [query = '', expected = ''] = line.split(' > ');
    const found = search(query).map((type): string => type.type_id);
    const isFound = expected.startsWith('=')
      ? vendorOf(found[0]) === expected.slice(1)
      : found.slice(0, 3).includes(expected);
    return isFound ? [] : [`${line} | ${found.slice(0, 4).join(', ')}`];
  });
  expect(missed).toEqual([]);
});
