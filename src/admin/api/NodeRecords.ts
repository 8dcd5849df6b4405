/** Defines the records of nodes. */
import { Schema } from "effect"
import { RefusedConfiguration } from "../nodes/RefusedConfigurations.ts"
import { maybeCount, text, time } from "./Fields.ts"

export const Node = Schema.Struct({
  name: text("Name of the node (SVC_NODE_NAME)"),
  roles: Schema.Array(Schema.String),
  version: text("Version of aicr"),
  configuration: text("Beginning of the hash of its configuration"),
  started_at: time("Start of the process"),
  slots: maybeCount("Maximum number of concurrent reviews, if available"),
  actors: maybeCount("Number of active actors, if available"),
  refused: Schema.Array(RefusedConfiguration).annotate({
    description: "Configurations that it refuses while it works with an earlier one"
  })
}).annotate({ identifier: "Node", description: "A node of the installation" })
