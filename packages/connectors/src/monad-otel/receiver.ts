import { isUtf8 } from 'node:buffer';
import { Writer } from 'protobufjs/minimal.js';
import { BodyError, isRecord, type Receiver, type ReceiverResponse } from '@connector-frame/engine/connector-api';
import { jsonLogs } from './json-logs.js';
import { logLines } from './log-lines.js';
import { protobufLogs } from './protobuf-logs.js';

/** Receives logs in OTLP over HTTP: https://opentelemetry.io/docs/specs/otlp/#otlphttp */
export const receiver: Receiver = {
  path: '/v1/logs',
  // Decoding runs on the event loop; a larger body would block other requests for too long.
  maxBytes: 16 * 1024 * 1024,

  async read(body, contentType) {
    if (isProtobuf(contentType)) return fromProtobuf(body);
    if (isJson(contentType)) return logLines(jsonLogs(parse(body)));
    throw new BodyError(415, 'Send OTLP logs with Content-Type: application/x-protobuf or application/json.');
  },

  accepted(_count, tooLarge, contentType) {
    // ExportLogsServiceResponse {
    //   partial_success = 1 { rejected_log_records = 1, error_message = 2 }
    // }
    if (tooLarge.length === 0) return createResponse(contentType, {}, Writer.create());
    const errorMessage = `${tooLarge.length} log records are larger than 512 KiB and were rejected.`;
    const json = { partialSuccess: { rejectedLogRecords: String(tooLarge.length), errorMessage } };
    const message = Writer.create().uint32(10).fork();
    message.uint32(8).int64(tooLarge.length).uint32(18).string(errorMessage).ldelim();
    return createResponse(contentType, json, message);
  },

  // google.rpc.Status { code = 1, message = 2 }; OTLP omits `code`.
  rejected: (message, contentType) =>
    createResponse(contentType, { message }, Writer.create().uint32(18).string(message)),
};

const isJson = (contentType: string | undefined): boolean => /^application\/json\b/i.test(contentType ?? '');
const isProtobuf = (contentType: string | undefined): boolean =>
  /^application\/(?:x-)?protobuf\b/i.test(contentType ?? '');

/** Builds a response in the encoding of the request. */
function createResponse(contentType: string | undefined, json: object, message: Writer): ReceiverResponse {
  return isProtobuf(contentType)
    ? { contentType: 'application/x-protobuf', body: message.finish() }
    : { contentType: 'application/json', body: JSON.stringify(json) };
}

function parse(body: Buffer): unknown {
  try {
    const request: unknown = isUtf8(body) ? JSON.parse(body.toString('utf8')) : undefined;
    if (isRecord(request)) return request;
  } catch {
    // Reported below.
  }
  throw new BodyError(400, 'The body is not an ExportLogsServiceRequest in JSON. The request was rejected.');
}

async function fromProtobuf(body: Buffer): Promise<string[]> {
  try {
    return await logLines(protobufLogs(body));
  } catch (error) {
    if (error instanceof BodyError) throw error;
    throw new BodyError(400, 'The body is not an ExportLogsServiceRequest in protobuf. The request was rejected.');
  }
}
