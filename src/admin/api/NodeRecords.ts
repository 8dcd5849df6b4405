/** Defines the records of nodes. */
import { Schema } from "effect"
import { count, maybeCount, text, time } from "./Fields.ts"

export const Node = Schema.Struct({
  name: text("Name of the node (SVC_NODE_NAME)"),
  roles: Schema.Array(Schema.String),
  version: text("Version of aicr"),
  started_at: time("Start of the process"),
  actors: maybeCount("Number of active actors, if available")
}).annotate({ identifier: "Node", description: "A node of the installation" })

export const RejectedSignature = Schema.Struct({
  provider: text("Kind of the host"),
  trigger: text("Name of the trigger"),
  addresses: Schema.Literals(["loopback", "private", "public"]).annotate({ description: "Class of the addresses" }),
  count: count("Number of deliveries"),
  last_at: time("Time of the latest")
}).annotate({ identifier: "RejectedSignature", description: "Deliveries with a wrong signature" })
