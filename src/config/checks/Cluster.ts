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
