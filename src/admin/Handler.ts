/** The type of the handlers of the administration's endpoints. */
import type { Effect } from "effect"
import type { ConfigStore } from "../config/ConfigStore.ts"
import type { StoreError } from "../database/StoreError.ts"
import type { Operations } from "../queue/operator/Operations.ts"
import type { Queue, QueueError } from "../queue/Queue.ts"
import type { Batches } from "../store/Batches.ts"
import type { Outbox } from "../store/Outbox.ts"
import type { Receipts } from "../store/Receipts.ts"
import type { Runs } from "../store/Runs.ts"
import type { AdminRequest, AdminResponse } from "./AdminApi.ts"
import type { AdminRefusal } from "./Answers.ts"
import type { Nodes, NodesError } from "./Nodes.ts"

export type Services = Batches | ConfigStore | Nodes | Operations | Outbox | Queue | Receipts | Runs
export type RouteFailure = NodesError | QueueError | AdminRefusal | StoreError

export interface AuthenticatedRequest extends AdminRequest {
  /** Value of `:id`; empty if the path has none. */
  readonly id: string
  readonly username: string
}
export type Handler = (request: AuthenticatedRequest) => Effect.Effect<AdminResponse, RouteFailure, Services>
