/** Defines the records of nodes. */
import { Schema } from "effect"
import { RefusedConfiguration } from "../nodes/RefusedConfigurations.ts"
import * as Field from "../../domain/Field.ts"
import { LoggedError } from "../../domain/LoggedError.ts"
import { nodeVersionFields } from "../../domain/NodeWarnings.ts"
import { shown } from "./Shown.ts"

const nodeFields = {
  ...nodeVersionFields,
  startedAt: Field.time,
  slots: Field.optional(Field.integer),
  /** Number of active actors on the node. */
  actors: Field.optional(Field.integer),
  /** Resident memory of the process. */
  memoryBytes: Field.optional(Field.integer),
  lagMillis: Field.optional(Field.integer),
  lastError: Field.optional(Field.json(LoggedError)),
  refused: Field.json(Schema.Array(RefusedConfiguration))
}
export type NodeInfo = Field.Values<typeof nodeFields>

export const node = shown(
  { fields: nodeFields },
  {
    name: "Name of the node (SVC_NODE_NAME)",
    roles: "Roles of the node",
    version: "Version of aicr",
    configuration: "Beginning of the hash of its configuration",
    startedAt: "Start of the process",
    slots: "Maximum number of concurrent reviews, if available",
    actors: "Number of active actors, if available",
    memoryBytes: "Memory of the process, if available",
    lagMillis: "By how many milliseconds a timer of the process came late within the last seconds, if available",
    lastError: "The last error that it logged; absent without one since its start",
    refused: "Configurations that it refuses while it works with an earlier one"
  }
)
export const Node = Schema.Struct({
  ...node.fields,
  running: Schema.Int.annotate({ description: "Reviews that it runs, those that wait for a model included" }),
  differs: Schema.Array(Schema.Literals(["configuration", "version"])).annotate({
    description: "In what it differs from most nodes"
  })
}).annotate({
  identifier: "Node",
  description: "A node of the installation"
})
