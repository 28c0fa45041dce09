import { Metadata, Server, ServerCredentials, status as statuses, type ServiceError } from '@grpc/grpc-js';
import type { Certificate } from './certificate.js';

/** What a call sent: its message and metadata. */
export interface GrpcCall {
  path: string;
  message: Buffer;
  metadata: Record<string, unknown>;
}

export type GrpcReply = { message?: Uint8Array } | { status: keyof typeof statuses; retryAfterMs?: number };

export interface GrpcServer {
  port: number;
  calls: GrpcCall[];
  /** Ends all connections. */
  close(): void;
}

/** Starts a server of gRPC's own implementation, which passes messages on as bytes. */
export async function startGrpcServer(
  paths: readonly string[],
  respond: (call: GrpcCall) => GrpcReply,
  tls?: Certificate,
  port = 0,
): Promise<GrpcServer> {
  const server = new Server({ 'grpc.max_receive_message_length': 4 * 1024 * 1024 });
  const calls: GrpcCall[] = [];
  const bytes = (value: Buffer): Buffer => value;
  for (const path of paths) {
    const definition = {
      path,
      requestStream: false,
      responseStream: false,
      requestSerialize: bytes,
      requestDeserialize: bytes,
      responseSerialize: bytes,
      responseDeserialize: bytes,
    } as const;
    server.addService(
      { [path]: definition },
      {
        [path]: (
          { request, metadata }: { request: Buffer; metadata: Metadata },
          done: (error: Partial<ServiceError> | null, message?: Buffer) => void,
        ) => {
          const call = { path, message: request, metadata: metadata.getMap() };
          calls.push(call);
          const reply = respond(call);
          if (!('status' in reply)) return done(null, Buffer.from(reply.message ?? []));
          const trailers = new Metadata();
          if (reply.retryAfterMs !== undefined) trailers.set('grpc-retry-pushback-ms', String(reply.retryAfterMs));
          done({
            code: statuses[reply.status],
            details: `refused ${JSON.stringify(call.metadata)}`,
            metadata: trailers,
          });
        },
      },
    );
  }
  const credentials = tls
    ? ServerCredentials.createSsl(null, [{ private_key: Buffer.from(tls.key), cert_chain: Buffer.from(tls.cert) }])
    : ServerCredentials.createInsecure();
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, found) => (error ? reject(error) : resolve(found)));
  });
  return { port: bound, calls, close: () => server.forceShutdown() };
}
