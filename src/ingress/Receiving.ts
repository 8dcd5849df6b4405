/** Builds the parts that decide about deliveries and calls, for the HTTP server, for searches and for replays. */
import { Clock, Context, Effect, Layer, Metric } from "effect"
import type { Refusal } from "../admission/Admit.ts"
import { ConfigStore } from "../config/ConfigStore.ts"
import type { ForgeKind, TriggerKind } from "../domain/Kinds.ts"
import { OwnAccounts } from "../forge/OwnAccounts.ts"
import { webhookDecisions } from "../observability/Metrics.ts"
import { Queue } from "../queue/Queue.ts"
import { Inventories } from "../store/Inventories.ts"
import type { Notices } from "../store/Notices.ts"
import type { Payloads } from "../store/Payloads.ts"
import { Receipts } from "../store/Receipts.ts"
import type { Statistics } from "../store/Statistics.ts"
import { makeDeliveryLog } from "./DeliveryLog.ts"
import type { DeliveryLog } from "./DeliveryLog.ts"
import { Intake } from "./Intake.ts"
import type { IntakeStores } from "./Intake.ts"
import { LargeWork } from "./LargeWork.ts"
import { PayloadKeeper } from "./PayloadKeeper.ts"
import { PullBranches } from "./PullBranches.ts"
import { RenamedRepositories } from "./RenamedRepositories.ts"
import { makeTriggers } from "./Triggers.ts"
import { WaitingReports } from "./WaitingReports.ts"
import { StoredFacts } from "./StoredFacts.ts"
import { makeWebhooks } from "./Webhooks.ts"

/** Stores that decide about deliveries, and that they are written to. */
export type ReceivingStores = IntakeStores | Payloads | Statistics | Notices | Inventories

export const makeReceiving = Effect.fnUntraced(function* (
  makeLog: (run: (line: Effect.Effect<void>) => void) => DeliveryLog
) {
  const config = yield* ConfigStore
  const queue = yield* Queue
  const receipts = yield* Receipts
  const facts = yield* StoredFacts
  const context = yield* Effect.context<ReceivingStores>()
  const run = Effect.runForkWith(context)
  const warnOnce = makeWarnOnce(run)
  const intake = new Intake(context, facts)
  yield* Effect.addFinalizer(() => intake.close)
  const payloads = new PayloadKeeper(config, context)
  yield* Effect.addFinalizer(() => payloads.flush)
  const count = counter(context)
  const log = makeLog((line) => void run(line))
  const webhooks = makeWebhooks({
    config,
    ownAccounts: yield* OwnAccounts,
    facts,
    intake,
    pullBranches: new PullBranches(context),
    renamed: new RenamedRepositories(config, context),
    largeWork: new LargeWork(),
    repositoriesChanged: (triggers, now) => {
      run(noteRepositories(triggers, now))
    },
    cancelWaiting: (closed) => {
      run(cancelWaiting(queue, receipts, closed))
    },
    warnOpen: (trigger) =>
      warnOnce(
        `trigger ${trigger}`,
        `trigger ${trigger} has no webhook secret: anyone can send it deliveries; set webhook_secret_env`
      ),
    count,
    log,
    payloads
  })
  const triggers = makeTriggers({
    config,
    facts,
    intake,
    warnKeyless: () =>
      warnOnce(
        "keys",
        "a call of /triggers was refused: no API key is configured; set server.auth.api_key_env, or auth.api_key_env of a workspace"
      ),
    waiting: new WaitingReports(receipts, Effect.runPromiseWith(context)),
    count,
    log,
    payloads
  })
  const misdirected = (kind: ForgeKind, path: string, now: number): void => {
    count(kind, "refused", "unknown_path")
    log.misdirected(kind, path, now)
  }
  return { intake, misdirected, triggers, webhooks }
})

/**
 * The parts for events that no request brings: those that a search found, and stored deliveries that are decided about again. No sender repeats
 * them, so that a refusal requests no search.
 */
export class InternalReceiving extends Context.Service<
  InternalReceiving,
  Effect.Success<ReturnType<typeof makeReceiving>>
>()("aicr/ingress/InternalReceiving") {
  static readonly layer = Layer.effect(
    InternalReceiving,
    makeReceiving((run) => makeDeliveryLog(run, { count: () => {} }))
  )
}

/** Logs once per `name`; the configuration limits their number. */
const makeWarnOnce = (run: (effect: Effect.Effect<void>) => void) => {
  const warned = new Set<string>()
  return (name: string, warning: string): void => {
    if (warned.has(name)) return
    warned.add(name)
    run(Effect.logWarning("configuration warning", { warning }))
  }
}

const counter = (context: Context.Context<never>) => {
  const series = new Map<string, Metric.Counter<number>>()
  return (provider: TriggerKind, decision: string, reason: string): void => {
    const key = `${provider} ${decision} ${reason}`
    let metric = series.get(key)
    if (metric === undefined) {
      metric = Metric.withAttributes(webhookDecisions, { provider, decision, reason })
      series.set(key, metric)
    }
    metric.updateUnsafe(1, context)
  }
}

const noteRepositories = (triggers: ReadonlyArray<string>, now: number) =>
  Effect.flatMap(Inventories, ({ changed }) => changed(triggers, now)).pipe(
    // The next list of all repositories has it; only time is lost.
    Effect.catch((error) => Effect.logWarning("change of repositories not stored", { error: error.message }))
  )

const cancelWaiting = (
  queue: Queue["Service"],
  receipts: Receipts["Service"],
  { reason, targetKey }: NonNullable<Refusal["closes"]>
) =>
  Effect.gen(function* () {
    const { ended } = yield* queue.cancel(targetKey, reason)
    const events = ended.flatMap((entry) => entry.events)
    if (events.length === 0) return
    yield* receipts.settle(events, { outcome: "cancelled", reason }, yield* Clock.currentTimeMillis)
  }).pipe(
    // The run will find it closed; only time is lost.
    Effect.catch((error) =>
      Effect.logWarning("queue entries of a closed target not cancelled", { error: error.message })
    )
  )
