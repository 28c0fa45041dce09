/** A pipeline that uses a connector. */
export interface PipelineUse {
  id: string;
  name: string;
  enabled: boolean;
  input_id: string;
  output_ids: string[];
}

/** What connectors need to know of pipelines. */
export interface Pipelines {
  /** Pipelines of the organization that use the connector. */
  using(organizationId: string, connectorId: string): Promise<PipelineUse[]>;
}

/** A service without an engine has no pipelines. */
export const noPipelines: Pipelines = { using: () => Promise.resolve([]) };
