/**
 * Keeps an inventory of the repositories of each trigger of a git host and of their webhooks, one in the cluster. New repositories are noticed within
 * a minute, by one request for each owner, and those that were renamed or moved where the host reports it. Webhooks are checked when their repository
 * is new, when something else is wanted of them, on request, and at a slow interval. `triggers[].inventory.hooks` decides whether broken ones are
 * repaired and missing ones created. After that, a search for the changes that they did not report is requested.
 */
import { Clock, Duration, Effect, Metric, Schedule } from "effect"
import { Singleton } from "effect/cluster"
import { isSearched } from "../../src/admission/IsSearched.ts"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { backoffMillis, doubling } from "../../src/domain/Backoff.ts"
import { isForgeKind } from "../../src/domain/Kinds.ts"
import type { ForgeKind } from "../../src/domain/Kinds.ts"
import type { Reason } from "../../src/domain/Reason.ts"
import { digestSecret } from "../../src/domain/SecretDigest.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { limitWarning } from "../../src/observability/LimitedWarnings.ts"
import { inventoryHooks } from "../../src/observability/Metrics.ts"
import { CatchUps } from "../../src/store/CatchUps.ts"
import { HookState, Inventories } from "../../src/store/Inventories.ts"
import type { Inventory } from "../../src/store/Inventories.ts"
import { countStart } from "../ActorStarts.ts"
import type { ShardGroup } from "../Placement.ts"
import { checkDue } from "./CheckHooks.ts"
import type { InventoryCheck } from "./CheckHooks.ts"
import { OwnersMemory, listNeeded } from "./InventoryOwners.ts"

/** Interval in which requests are noticed. */
const scanInterval = Duration.seconds(10)
/** Interval in which new repositories of owners are requested. */
const pollMillis = Duration.toMillis("50 seconds")
/** Shortest interval between two checks of a webhook, and the part of it for each repository: at most 720 checks an hour. */
const minIntervalMillis = Duration.toMillis("1 hour")
const intervalOfRepositoryMillis = Duration.toMillis("5 seconds")
/** Time from an incomplete check to the next one, by the number of those before it. */
const retry = doubling(Duration.toMillis("1 minute"), Duration.toMillis("5 minutes"))

/** State of a trigger in this process. */
export class InventoryMemory {
  isRunning = false
  polledAt: number | undefined
  /** Number of incomplete checks since the last complete one. */
  failures = 0
  readonly owners = new OwnersMemory()
  /** Digest of the secret of this profile. */
  digest: { readonly profile: TriggerProfile; readonly value: string | undefined } | undefined
}

const digestOf = (memory: InventoryMemory, profile: TriggerProfile): string | undefined => {
  const { name, webhookSecret } = profile
  if (memory.digest?.profile !== profile)
    memory.digest = {
      profile,
      value: webhookSecret === undefined ? undefined : digestSecret(webhookSecret, `webhook ${name}`)
    }
  return memory.digest.value
}

/** Returns whether the owners are read now. A clock that was set back delays nothing. */
export const isPollDue = (
  { failures, polledAt }: InventoryMemory,
  state: Inventory | undefined,
  now: number
): boolean => {
  if (polledAt === undefined) return true
  const since = Math.abs(now - polledAt)
  if (failures > 0) return since >= backoffMillis(retry, failures, 0)
  return state?.requestedAt !== undefined || since >= pollMillis
}

/** Returns why this node cannot write webhooks, although it is configured. */
const findObstacle = ({ settings, webhookSecret }: TriggerProfile): Reason | undefined => {
  const { inventory, webhook_secret_env: variable } = settings
  return inventory.hooks !== "report" && variable !== undefined && webhookSecret === undefined
    ? { _tag: "SecretNotOnNode", variable }
    : undefined
}

/** Checks the inventory of a trigger. Returns why it is incomplete. */
export const checkInventory = Effect.fnUntraced(function* (
  trigger: TriggerProfile,
  kind: ForgeKind,
  memory: InventoryMemory,
  state: Inventory | undefined
) {
  const { hooks: mode } = trigger.settings.inventory
  if (mode === "off") return undefined
  const snapshot = (yield* ConfigStore).current()
  const inventories = yield* Inventories
  const startedAt = yield* Clock.currentTimeMillis
  memory.polledAt = startedAt
  const obstacle = findObstacle(trigger)
  const rows = new Map((yield* inventories.hooks(trigger.name)).map((hook) => [hook.scope, hook]))
  const check: InventoryCheck = {
    trigger,
    kind,
    snapshot,
    hooks: (yield* Forges).client(trigger).hooks,
    mode: obstacle === undefined ? mode : "report",
    digest: digestOf(memory, trigger),
    now: startedAt,
    requestedAt: state?.requestedAt,
    changedAt: state?.changedAt,
    intervalMillis: Math.max(minIntervalMillis, rows.size * intervalOfRepositoryMillis),
    rows,
    tally: { create: 0, repair: 0 }
  }
  const { failure: unlisted, needed, repositories, served } = yield* listNeeded(check, memory.owners)
  const unchecked = yield* checkDue(check, needed.values())
  const failure = unlisted ?? unchecked?.why
  if (unlisted === undefined) {
    const gone = [...rows.keys()].filter((scope) => !needed.has(scope))
    yield* inventories.remove(trigger.name, gone)
    for (const scope of gone) rows.delete(scope)
  }
  const at = yield* Clock.currentTimeMillis
  const isListed = unlisted === undefined
  const ended = { startedAt, at, repositories, served, isListed, failure: failure ?? obstacle }
  yield* inventories.checked(trigger.name, ended)
  memory.failures = failure === undefined ? 0 : memory.failures + 1
  if (check.tally.create + check.tally.repair > 0) yield* (yield* CatchUps).request([trigger.name], "hook", at)
  yield* showStates(check)
  return failure
})

const showStates = Effect.fnUntraced(function* ({ rows, trigger }: InventoryCheck) {
  for (const state of HookState.literals) {
    const count = [...rows.values()].filter((hook) => hook.state === state).length
    yield* Metric.update(Metric.withAttributes(inventoryHooks, { trigger: trigger.name, state }), count)
  }
})

const logUnchecked = (trigger: string | undefined, error: Reason | string) =>
  limitWarning(
    "inventory",
    (suppressed) =>
      Effect.logWarning("webhooks of a trigger not all checked, retry scheduled", { trigger, error, suppressed }),
    trigger
  )

const runCheck = (trigger: TriggerProfile, kind: ForgeKind, memory: InventoryMemory, state: Inventory | undefined) =>
  checkInventory(trigger, kind, memory, state).pipe(
    Effect.tap((why) => (why === undefined ? Effect.void : logUnchecked(trigger.name, why))),
    Effect.catch(({ message }) => logUnchecked(trigger.name, message)),
    Effect.ensuring(
      Effect.sync(() => {
        memory.isRunning = false
      })
    )
  )

/** Starts the checks that are due. */
const scan = Effect.fnUntraced(function* (memories: Map<string, InventoryMemory>) {
  const now = yield* Clock.currentTimeMillis
  const { document, triggers: profiles } = (yield* ConfigStore).current()
  // Without an address the webhooks of others cannot be distinguished.
  if (document.server.base_url === undefined) return
  const triggers = [...profiles.values()].filter(
    (trigger) => isSearched(trigger) && trigger.settings.inventory.hooks !== "off"
  )
  if (triggers.length === 0) return
  const states = new Map((yield* (yield* Inventories).list).map((state) => [state.trigger, state]))
  for (const trigger of triggers) {
    if (!isForgeKind(trigger.kind)) continue
    const memory = memories.get(trigger.name) ?? new InventoryMemory()
    memories.set(trigger.name, memory)
    const state = states.get(trigger.name)
    if (memory.isRunning || !isPollDue(memory, state, now)) continue
    memory.isRunning = true
    yield* Effect.forkScoped(runCheck(trigger, trigger.kind, memory, state))
  }
})

const shardGroup: ShardGroup = "publisher"

export const layer = Singleton.make(
  "Inventory",
  Effect.gen(function* () {
    yield* countStart("Inventory")
    const memories = new Map<string, InventoryMemory>()
    const scanning = Effect.catch(scan(memories), ({ message }) => logUnchecked(undefined, message))
    yield* Effect.repeat(scanning, Schedule.spaced(scanInterval))
  }).pipe(Effect.scoped),
  { shardGroup }
)
