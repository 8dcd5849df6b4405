/** The actors of a node, on this node. */
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

/** Everything, for a node with all roles. The executor stops first: what it finishes while stopping is still published. */
export const layerAll = ReviewExecutor.layer.pipe(
  Layer.provideMerge(
    Layer.mergeAll(ChangePublisher.layer, WorkspaceScheduler.layer, ProviderLimiter.layer, BudgetLedger.layer)
  ),
  Layer.provideMerge(Layer.mergeAll(Housekeeping.layer, Schedules.layer, DepotRouting.layer, BatchKeeper.layer))
)
