/**
 * What keeps a configuration from being run by several nodes. Nodes that work together over NATS share their records and their
 * queue; a node with stores of its own would review everything again, or nothing.
 */
import type { ConfigIssue } from "./config/ConfigIssue.ts"
import type { Snapshot } from "./config/Snapshot.ts"

/** The environment says that nodes work together. */
const isCluster = (env: Readonly<Record<string, string | undefined>>): boolean => {
  const url = env["SVC_NATS_URL"]
  return url !== undefined && url.trim() !== ""
}

/** For commands: what the environment of this node asks of a configuration. */
export const nodeProblems = (snapshot: Snapshot): ReadonlyArray<ConfigIssue> =>
  isCluster(process.env) ? clusterProblems(snapshot) : []

const together = "SVC_NATS_URL is set, so nodes work together:"

export const clusterProblems = ({ document: { queue, storage } }: Snapshot): ReadonlyArray<ConfigIssue> => [
  ...(storage.database.kind === "postgres"
    ? []
    : [
        {
          severity: "error",
          path: "storage.database.kind",
          message: `${together} ${storage.database.kind} keeps records where only one node sees them; use postgres`
        } as const
      ]),
  ...(queue.kind === "redis" || queue.kind === "nats"
    ? []
    : [
        {
          severity: "error",
          path: "queue.kind",
          message: `${together} ${queue.kind} keeps the queue where only one node sees it; use redis or nats`
        } as const
      ]),
  ...(storage.object.kind === "filesystem"
    ? [
        {
          severity: "warning",
          path: "storage.object.filesystem.root",
          message: `${together} mount the same storage at ${storage.object.filesystem.root} on every node, or use s3`
        } as const
      ]
    : [])
]
