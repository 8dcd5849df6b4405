/**
 * Checks whether several nodes can run a configuration. Nodes that work together over NATS share their records and their queue; a node with
 * separate stores would review everything again, or nothing.
 */
import type { ConfigIssue } from "../ConfigIssue.ts"
import type { Snapshot } from "../Snapshot.ts"

const isCluster = (env: NodeJS.ProcessEnv): boolean => (env["SVC_NATS_URL"] ?? "").trim() !== ""

/** Returns the problems of a configuration in the environment of a node. */
export const nodeProblems = (snapshot: Snapshot, env: NodeJS.ProcessEnv): ReadonlyArray<ConfigIssue> =>
  isCluster(env) ? clusterProblems(snapshot) : []

export const clusterProblems = ({ document: { queue, storage } }: Snapshot): ReadonlyArray<ConfigIssue> => [
  ...(storage.database.kind === "postgres"
    ? []
    : [
        {
          severity: "error",
          path: "storage.database.kind",
          reason: { _tag: "RecordsOfOneNode", kind: storage.database.kind }
        } as const
      ]),
  ...(queue.kind === "redis" || queue.kind === "nats"
    ? []
    : [
        {
          severity: "error",
          path: "queue.kind",
          reason: { _tag: "QueueOfOneNode", kind: queue.kind }
        } as const
      ]),
  ...(storage.object.kind === "filesystem"
    ? [
        {
          severity: "warning",
          path: "storage.object.filesystem.root",
          reason: { _tag: "FolderOfOneNode", folder: storage.object.filesystem.root }
        } as const
      ]
    : [])
]
