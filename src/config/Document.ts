/**
 * The configuration document: fifteen namespaces, each described in a file under schema/. `typeof Document.Type` is the document without
 * defaults, the type `Document` the one with defaults filled in.
 */
import { Schema } from "effect"
import type { Resolved } from "./Field.ts"
import { defaulted, group } from "./Field.ts"
import { Flag } from "./Scalars.ts"
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
  llm: group(LlmConfig.fields, "LLM providers, model groups, retry, budgets, catalog."),
  triggers: defaulted(Triggers, [], "Where changes come from."),
  workspaces: group(WorkspacesConfig.fields, "What is reviewed."),
  outputs: group(OutputsConfig.fields, "Where results go."),
  prompts: group(PromptsConfig.fields, "Named system prompts."),
  im: group(ImConfig.fields, "Chat platforms."),
  agent: group(GlobalAgent.fields, "How reviews are executed."),
  review: group(ReviewConfig.fields, "What is read, how much and when."),
  queue: group(QueueConfig.fields, "Where work waits."),
  config_sources: group(ConfigSourcesConfig.fields, "Where configuration comes from."),
  storage: group(StorageConfig.fields, "Database, cache, objects, retention."),
  compression: group(CompressionConfig.fields, "Diffs that are too large for the model."),
  server: group(ServerConfig.fields, "HTTP listener and global API key."),
  perforce: group(PerforceConfig.fields, "Client program of Perforce."),
  admin: group(AdminConfig.fields, "Login of the dashboard."),
  allow_empty: defaulted(
    Flag,
    false,
    "Accept a document without anything else, or one without triggers in place of one that had some. Otherwise both are refused: a truncated file looks the same."
  )
})
export type Document = Resolved<typeof Document>
export type GivenDocument = typeof Document.Type
