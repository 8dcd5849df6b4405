/**
 * The configuration document: fifteen namespaces, each described in a file under schema/. `typeof Document.Type` is the document without
 * defaults, the type `Document` the one with defaults filled in.
 */
import { Schema } from "effect"
import type { Resolved } from "./fields/Field.ts"
import { defaulted, group } from "./fields/Field.ts"
import { Flag } from "./fields/Scalars.ts"
import { AdminConfig } from "./schema/Admin.ts"
import { GlobalAgent } from "./schema/Agent.ts"
import { CompressionConfig } from "./schema/Compression.ts"
import { ConfigSourcesConfig } from "./schema/ConfigSources.ts"
import { ImConfig } from "./schema/Im.ts"
import { LlmConfig } from "./schema/Llm.ts"
import { OutputsConfig } from "./schema/Outputs.ts"
import { PerforceConfig } from "./schema/Perforce.ts"
import { PromptsConfig } from "./schema/Prompts.ts"
import { QueueConfig } from "./schema/Queue.ts"
import { ReviewConfig } from "./schema/Review.ts"
import { ServerConfig } from "./schema/Server.ts"
import { StorageConfig } from "./schema/Storage.ts"
import { Triggers } from "./schema/Triggers.ts"
import { WorkspacesConfig } from "./schema/Workspaces.ts"

export const Document = Schema.Struct({
  llm: group(LlmConfig.fields, "llm"),
  triggers: defaulted(Triggers, [], "triggers"),
  workspaces: group(WorkspacesConfig.fields, "workspaces"),
  outputs: group(OutputsConfig.fields, "outputs"),
  prompts: group(PromptsConfig.fields, "prompts"),
  im: group(ImConfig.fields, "im"),
  agent: group(GlobalAgent.fields, "agent"),
  review: group(ReviewConfig.fields, "review"),
  queue: group(QueueConfig.fields, "queue"),
  config_sources: group(ConfigSourcesConfig.fields, "config_sources"),
  storage: group(StorageConfig.fields, "storage"),
  compression: group(CompressionConfig.fields, "compression"),
  server: group(ServerConfig.fields, "server"),
  perforce: group(PerforceConfig.fields, "perforce"),
  admin: group(AdminConfig.fields, "admin"),
  allow_empty: defaulted(Flag, false, "allow_empty")
})
export type Document = Resolved<typeof Document>
export type GivenDocument = typeof Document.Type
