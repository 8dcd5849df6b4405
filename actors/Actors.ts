/** The actors of a node, by role. */
import { Layer } from "effect"
import * as BatchKeeper from "./BatchKeeper.ts"
import * as BudgetLedger from "./BudgetLedger.ts"
import * as ChangePublisher from "./ChangePublisher.ts"
import * as DepotRouting from "./DepotRouting.ts"
import * as Housekeeping from "./Housekeeping.ts"
import * as ProviderLimiter from "./ProviderLimiter.ts"
import * as ReviewExecutor from "./ReviewExecutor.ts"
import * as Schedules from "./Schedules.ts"
import * as WorkspaceScheduler from "./WorkspaceScheduler.ts"
import * as WritePacer from "./WritePacer.ts"

/** Role `actors`: what decides, and what there is one of in the cluster. */
export const deciding = Layer.mergeAll(WorkspaceScheduler.layer, ProviderLimiter.layer, BudgetLedger.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Housekeeping.layer, Schedules.layer, DepotRouting.layer, BatchKeeper.layer))
)

/** Role `publisher`: what writes to hosts. */
export const publishing = Layer.mergeAll(ChangePublisher.layer, WritePacer.layer)

/** Role `executor`: what reviews. */
export const executing = ReviewExecutor.layer

/** Everything, for a node with all roles. The executor stops first: what it finishes while stopping is still published. */
export const layerAll = executing.pipe(Layer.provideMerge(publishing), Layer.provideMerge(deciding))
