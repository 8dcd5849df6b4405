/**
 * Rows as text, in messages and snapshots of the journal: `[format, origins, rows]`, the latter arrays of arrays by position, because names
 * would be half of it. Releases to come read it: a position keeps its meaning, and a change that this release cannot read gets another
 * `format`. So what cannot be read in a known format is damaged, and what is of another format is of a newer release.
 */
import { EntryStatus } from "../../domain/Entry.ts"
import { LeaseToken } from "../../domain/FencingToken.ts"
import { TargetKey } from "../../domain/Keys.ts"
import { TargetKind, TriggerKind } from "../../domain/Kinds.ts"
import { readReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"
import type { Pause } from "../operator/QueueControl.ts"
import { ReplicaRow } from "./ReplicaRow.ts"
import type { RowOrigin, Origins, RowState } from "./ReplicaRow.ts"

export type RowChange =
  | { readonly _tag: "Put"; readonly row: ReplicaRow }
  | { readonly _tag: "Forget"; readonly id: string }
  | PauseChange

/** A row that no release wrote. */
export interface DamagedRow {
  readonly _tag: "Damaged"
  /** Id of the entry, if that can be read. */
  readonly id: string | undefined
  readonly why: string
}

const format = 1

interface PauseChange {
  readonly _tag: "Pause"
  readonly scope: Pause["scope"]
  readonly name: string
  /** Undefined: resumed. */
  readonly pause: Pause | undefined
}

const statuses = EntryStatus.literals

type Json = string | number | null | Reason | ReadonlyArray<Json>

const stateValues = (state: RowState): ReadonlyArray<Json> => [
  state.reason ?? null,
  state.attempts,
  state.losses,
  state.token,
  state.owner ?? null,
  state.leaseUntil ?? null,
  state.cancelRequested ?? null,
  state.requestedBy ?? null,
  state.awaitsModel ? 1 : 0
]

const originValues = (origin: RowOrigin): ReadonlyArray<Json> => {
  const { baseRef, configHash, provider, repo, target, trigger, workspace } = origin
  return [provider, trigger, workspace, repo.fullName, target.kind, configHash, baseRef ?? null]
}

/** `place`: of the row's origin. */
const rowValues = (row: ReplicaRow, place: number): ReadonlyArray<Json> => {
  const { admittedAt, delay, events, head, id, priority, state, status, targetKey } = row
  const opened = [id, statuses.indexOf(status), targetKey, place, head ?? null, events, priority, admittedAt, delay]
  const isExpiring = row.expires ? 1 : 0
  return state === undefined ? [...opened, isExpiring] : [...opened, isExpiring, ...stateValues(state)]
}

const pauseValues = ({ name, pause, scope }: PauseChange): ReadonlyArray<Json> =>
  pause === undefined ? [scope, name] : [scope, name, pause.reason, pause.since]

export const toText = (changes: ReadonlyArray<RowChange>): string => {
  const places = new Map<RowOrigin, number>()
  const placeOf = (origin: RowOrigin): number => {
    const place = places.get(origin) ?? places.size
    places.set(origin, place)
    return place
  }
  const rows = changes.map((change) => {
    if (change._tag === "Put") return rowValues(change.row, placeOf(change.row.origin))
    return change._tag === "Forget" ? [change.id] : pauseValues(change)
  })
  return JSON.stringify([format, Array.from(places.keys(), originValues), rows])
}

/** No rows. */
export const emptyText = toText([])

/** Text of a newer release: skipping it would lose work. */
export class NewerFormat extends Error {}

/** Throws `NewerFormat`. */
export const fromText = (text: string, origins: Origins): ReadonlyArray<RowChange | DamagedRow> => {
  const content = attempt(undefined, () => list(JSON.parse(text)))
  if ("_tag" in content) return [content]
  const [written, shared, rows] = content
  if (typeof written === "number" && written > format) throw new NewerFormat(`format ${written}, not ${format}`)
  const all = attempt(undefined, () => {
    if (written !== format) throw new Error("it has no format")
    return {
      own: list(shared).map((origin) => attempt(undefined, () => originFrom(list(origin), origins))),
      list: list(rows)
    }
  })
  if ("_tag" in all) return [all]
  return all.list.map((row) => attempt(idOf(row), () => fromValues(list(row), all.own)))
}

const idOf = (row: unknown): string | undefined => {
  const id: unknown = Array.isArray(row) ? row[0] : undefined
  return typeof id === "string" ? id : undefined
}

const attempt = <A>(id: string | undefined, read: () => A): A | DamagedRow => {
  try {
    return read()
  } catch (cause) {
    return { _tag: "Damaged", id, why: cause instanceof Error ? cause.message : String(cause) }
  }
}

/** Counts of values that tell the shapes of a row apart. */
const forgetSize = 1
const resumeSize = 2
const pauseSize = 4
const openedSize = 10
const wholeSize = openedSize + 9

type ReadOrigins = ReadonlyArray<RowOrigin | DamagedRow>

const fromValues = (at: ReadonlyArray<unknown>, origins: ReadOrigins): RowChange => {
  switch (at.length) {
    case forgetSize:
      return { _tag: "Forget", id: textAt(at, 0) }
    case resumeSize:
    case pauseSize: {
      const [scope, name] = [oneOf(["workspace", "node"] as const, at, 0), textAt(at, 1)]
      const pause =
        at.length === resumeSize ? undefined : { scope, name, reason: reasonAt(at, 2), since: numberAt(at, 3) }
      return { _tag: "Pause", scope, name, pause }
    }
    case openedSize:
    case wholeSize:
      return { _tag: "Put", row: rowFrom(at, origins) }
    default:
      throw new Error(`row of ${at.length} values`)
  }
}

const originFrom = (at: ReadonlyArray<unknown>, origins: Origins): RowOrigin => {
  const shared = {
    provider: oneOf(TriggerKind.literals, at, 0),
    trigger: textAt(at, 1),
    workspace: textAt(at, 2),
    repo: { fullName: textAt(at, 3) },
    target: { kind: oneOf(TargetKind.literals, at, 4) },
    baseRef: textIfAny(at, 6)
  }
  return origins.of(shared, textAt(at, 5))
}

const rowFrom = (at: ReadonlyArray<unknown>, origins: ReadOrigins): ReplicaRow => {
  const status = statuses[numberAt(at, 1)]
  const origin = origins[numberAt(at, 3)]
  if (status === undefined) throw new Error(`status ${String(at[1])}`)
  if (origin === undefined || "why" in origin) throw new Error(origin?.why ?? `origin ${String(at[3])}`)
  const events = at[5]
  return new ReplicaRow({
    id: textAt(at, 0),
    status,
    targetKey: TargetKey.make(textAt(at, 2)),
    origin,
    head: textIfAny(at, 4),
    events: typeof events === "string" ? events : list(events).map((_, index, all) => textAt(all, index)),
    priority: numberAt(at, 6),
    admittedAt: numberAt(at, 7),
    delay: numberAt(at, 8),
    expires: at[9] === 1,
    state: at.length === wholeSize ? stateFrom(at) : undefined
  })
}

const stateFrom = (at: ReadonlyArray<unknown>): RowState => ({
  reason: reasonIfAny(at, 10),
  attempts: numberAt(at, 11),
  losses: numberAt(at, 12),
  token: LeaseToken.make(numberAt(at, 13)),
  owner: textIfAny(at, 14),
  leaseUntil: at[15] === null ? undefined : numberAt(at, 15),
  cancelRequested: reasonIfAny(at, 16),
  requestedBy: textIfAny(at, 17),
  awaitsModel: at[18] === 1
})

const list = (value: unknown): ReadonlyArray<unknown> => {
  if (Array.isArray(value)) return value
  throw new Error(`${typeof value} in place of a list`)
}
const textAt = (at: ReadonlyArray<unknown>, place: number): string => {
  const value = at[place]
  if (typeof value === "string") return value
  throw new Error(`value ${place} is not a text`)
}
const textIfAny = (at: ReadonlyArray<unknown>, place: number): string | undefined =>
  at[place] === null ? undefined : textAt(at, place)
const reasonAt = (at: ReadonlyArray<unknown>, place: number): Reason => {
  const reason = readReason(at[place])
  if (reason !== undefined) return reason
  throw new Error(`value ${place} is not a reason`)
}
const reasonIfAny = (at: ReadonlyArray<unknown>, place: number): Reason | undefined =>
  at[place] === null ? undefined : reasonAt(at, place)
const numberAt = (at: ReadonlyArray<unknown>, place: number): number => {
  const value = at[place]
  if (typeof value === "number") return value
  throw new Error(`value ${place} is not a number`)
}
const oneOf = <A extends string>(known: ReadonlyArray<A>, at: ReadonlyArray<unknown>, place: number): A => {
  const text = textAt(at, place)
  const found = known.find((one) => one === text)
  if (found === undefined) throw new Error(`value ${place} is ${text}`)
  return found
}
