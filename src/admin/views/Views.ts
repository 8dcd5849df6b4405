/** Builds the JSON of records for the administration: snake_case, times as texts, no confidential fields. */
import type { Change } from "../../domain/Change.ts"
import type { EntryView } from "../../queue/operator/Operations.ts"
import type { Batch } from "../../store/Batches.ts"
import type { StoredEvent } from "../../store/Receipts.ts"
import type { RejectedSignature } from "../../store/RejectedSignatures.ts"
import { eventView, rejected, work } from "../api/EventRecords.ts"
import { batch, entry, waiting } from "../api/QueueRecords.ts"
import { withoutUndefined } from "./WithoutUndefined.ts"

/** Formats a time for people and programs. */
export const toTime = (millis: number): string => new Date(millis).toISOString()

export const maybeTime = (millis: number | undefined): string | undefined =>
  millis === undefined ? undefined : toTime(millis)

export const changeView = ({ author, head, repo, target, title, url }: Change) =>
  withoutUndefined({
    repo: repo.fullName,
    target_kind: target.kind,
    number: target.number,
    branch: target.branch,
    head,
    title,
    url,
    author: author?.username
  })

export const entryView = ({ entry: found, position }: EntryView) => ({
  ...entry.view(found),
  ...waiting.view(position),
  ...changeView(found.change),
  ...withoutUndefined({ node: found.owner?.split("/")[0] })
})

export const batchView = (found: Batch) => ({
  ...batch.view(found),
  ...changeView(found.change),
  ...(found.change.base === undefined ? {} : { base: found.change.base })
})

const workView = (accepted: NonNullable<StoredEvent["work"]>) => ({
  ...changeView(accepted.change),
  ...work.view(accepted)
})

/** A delivery that repeats another one, as the page of that one lists it. */
const replayView = (event: StoredEvent) => {
  const { decision, id, outcome, reason, received_at } = eventView(event)
  return withoutUndefined({ id, received_at, decision, reason, outcome })
}

interface Replays {
  readonly replayOf: string | undefined
  readonly replays: ReadonlyArray<StoredEvent>
}

export const eventDetails = (event: StoredEvent, { replayOf, replays }: Replays) =>
  withoutUndefined({
    ...eventView(event),
    replay_of: replayOf,
    replays: replays.map(replayView),
    delivery: event.deliveryKey,
    work: event.work === undefined ? undefined : workView(event.work)
  })

export const rejectedView = (found: RejectedSignature) => ({
  ...rejected.view(found),
  count: found.counts.loopback + found.counts.private + found.counts.public,
  addresses: found.counts
})
