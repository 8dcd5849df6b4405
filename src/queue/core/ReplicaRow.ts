/**
 * An entry as every node holds it: what decisions need, in at most 500 bytes with all indexes (`npm run bench -- queue`). The rest
 * of its change is stored as its details. What the entries of a repository have in common they share.
 */
import type { Change, Repo } from "../../domain/Change.ts"
import { foldRepo } from "../../domain/Change.ts"
import type { Entry, EntryStatus } from "../../domain/Entry.ts"
import type { LeaseToken } from "../../domain/FencingToken.ts"
import { noLease } from "../../domain/FencingToken.ts"
import type { TargetKey } from "../../domain/Keys.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Tracked } from "./EntryIndex.ts"

/** Marks a change of which only the part that rows hold is known. */
class RowRepo implements Repo {
  readonly fullName: string
  constructor(fullName: string) {
    this.fullName = fullName
  }
}

/** Whether a change comes from a row: then its details are stored already. */
export const isPartial = (change: Change): boolean => change.repo instanceof RowRepo

export interface Shared
  extends Pick<Change, "provider" | "trigger" | "workspace" | "baseRef">, Pick<Entry, "configHash"> {
  readonly repo: Pick<Repo, "fullName">
  readonly target: Pick<Change["target"], "kind">
}

/** The values that the entries of a repository share, by kind, base and configuration. */
export interface RowOrigin extends Shared {
  readonly repo: Repo
  readonly folded: string
}

/** The values that an entry gets after it was opened. */
export interface RowState {
  readonly reason: Reason | undefined
  readonly attempts: number
  readonly losses: number
  readonly token: LeaseToken
  readonly owner: string | undefined
  readonly leaseUntil: number | undefined
  readonly cancelRequested: Reason | undefined
  readonly awaitsModel: boolean
  readonly requestedBy: string | undefined
}

const asOpened: RowState = {
  reason: undefined,
  attempts: 0,
  losses: 0,
  token: noLease,
  owner: undefined,
  leaseUntil: undefined,
  cancelRequested: undefined,
  awaitsModel: false,
  requestedBy: undefined
}

/** One event or a list of them: most entries have one event, and an array takes a third of the memory of a row. */
type Events = string | ReadonlyArray<string>

export class ReplicaRow implements Tracked {
  readonly id: string
  readonly status: EntryStatus
  readonly targetKey: TargetKey
  readonly origin: RowOrigin
  readonly head: string | undefined
  readonly events: Events
  readonly priority: number
  readonly admittedAt: number
  /** Milliseconds from admission to due time: mostly 0, which takes no memory of its own. */
  readonly delay: number
  readonly expires: boolean
  readonly state: RowState | undefined
  isStale = false

  constructor(row: RowFields) {
    this.id = row.id
    this.status = row.status
    this.targetKey = row.targetKey
    this.origin = row.origin
    this.head = row.head
    this.events = row.events
    this.priority = row.priority
    this.admittedAt = row.admittedAt
    this.delay = row.delay
    this.expires = row.expires
    this.state = row.state
  }

  get workspace(): string {
    return this.origin.workspace
  }
  get repo(): string {
    return this.origin.folded
  }
  get awaitsModel(): boolean {
    return this.state?.awaitsModel === true
  }
  get dueAt(): number {
    return this.admittedAt + this.delay
  }
}

type RowFields = Pick<
  ReplicaRow,
  | "id"
  | "status"
  | "targetKey"
  | "origin"
  | "head"
  | "events"
  | "priority"
  | "admittedAt"
  | "delay"
  | "expires"
  | "state"
>

export const listEvents = ({ events }: ReplicaRow): ReadonlyArray<string> =>
  typeof events === "string" ? [events] : events

/** Its change has what rows hold. */
export const toEntry = (row: ReplicaRow): Entry => {
  const { origin, state = asOpened } = row
  const { provider, trigger, workspace, repo, target, baseRef, configHash } = origin
  const { requestedBy, ...rest } = state
  return {
    id: row.id,
    workspace,
    targetKey: row.targetKey,
    change: { provider, trigger, workspace, repo, target, head: row.head, baseRef, requestedBy },
    configHash,
    priority: row.priority,
    status: row.status,
    events: listEvents(row),
    admittedAt: row.admittedAt,
    dueAt: row.dueAt,
    expires: row.expires,
    ...rest
  }
}

export const fromEntry = (entry: Entry, origins: Origins): ReplicaRow => {
  const { change, configHash, events } = entry
  const [event] = events
  return new ReplicaRow({
    id: entry.id,
    status: entry.status,
    targetKey: entry.targetKey,
    origin: origins.of(change, configHash),
    head: change.head,
    events: event !== undefined && events.length === 1 ? event : events,
    priority: entry.priority,
    admittedAt: entry.admittedAt,
    delay: entry.dueAt - entry.admittedAt,
    expires: entry.expires,
    state: stateOf(entry)
  })
}

const stateOf = (entry: Entry): RowState | undefined => {
  const { reason, attempts, losses, token, owner, leaseUntil, cancelRequested, awaitsModel } = entry
  const { requestedBy } = entry.change
  const isAsOpened =
    token === 0 &&
    attempts === 0 &&
    losses === 0 &&
    reason === undefined &&
    requestedBy === undefined &&
    cancelRequested === undefined
  return isAsOpened
    ? undefined
    : { reason, attempts, losses, token, owner, leaseUntil, cancelRequested, awaitsModel, requestedBy }
}

/** Maximum number of origins; then all are forgotten, because most belong to branches that no entry has any more. */
const maxOrigins = 100_000

/** The origins of the rows of one table. */
export class Origins {
  readonly #known = new Map<string, RowOrigin>()

  of(shared: Omit<Shared, "configHash">, configHash: string): RowOrigin {
    const { provider, trigger, workspace, repo, target, baseRef } = shared
    const { fullName } = repo
    const { kind } = target
    const key = `${provider}\0${trigger}\0${workspace}\0${fullName}\0${kind}\0${configHash}\0${baseRef ?? "\0"}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    if (this.#known.size >= maxOrigins) this.#known.clear()
    const origin = {
      provider,
      trigger,
      workspace,
      baseRef,
      configHash,
      repo: new RowRepo(fullName),
      target: { kind },
      folded: foldRepo(fullName)
    }
    this.#known.set(key, origin)
    return origin
  }
}
