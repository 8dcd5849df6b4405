/** Lists queued and running reviews, which keep the configuration of their admission, for the preview of an edit. */
import { Effect } from "effect"
import type { EntryStatus } from "../../domain/Entry.ts"
import type { Entry } from "../../domain/Entry.ts"
import type { PreviewRecord } from "../api/ConfigRecords.ts"
import { QueueControl } from "../../queue/operator/QueueControl.ts"

/** Maximum number of entries of a preview, and of those that are read for it. */
export const maxWaiting = 100
const maxRead = 1000
const pageSize = 200
const unfinished: ReadonlyArray<EntryStatus> = ["waiting", "ready", "running"]

export interface WaitingWork {
  readonly items: (typeof PreviewRecord.Type)["blast_radius"]["waiting"]
  /** More exist than are listed. */
  readonly more: boolean
}

const toItem = ({ configHash, id, status, targetKey, workspace }: Entry) => ({
  id,
  status,
  workspace,
  target_key: targetKey,
  snapshot: configHash
})

/** Lists those whose configuration is not `hash`. Those of workspaces that the edit changes are first. */
export const listWaitingWork = Effect.fnUntraced(function* (hash: string, changed: ReadonlyArray<string>) {
  const queue = yield* QueueControl
  const found: Array<Entry> = []
  let read = 0
  let after: string | undefined
  do {
    const page = yield* queue.list({ statuses: unfinished, after, limit: pageSize })
    read += page.entries.length
    found.push(...page.entries.filter(({ configHash }) => configHash !== hash))
    after = page.next
  } while (after !== undefined && read < maxRead)
  const isChanged = new Set(changed)
  const [first, others] = [
    found.filter(({ workspace }) => isChanged.has(workspace)),
    found.filter(({ workspace }) => !isChanged.has(workspace))
  ]
  const items = [...first, ...others].slice(0, maxWaiting).map(toItem)
  return { items, more: after !== undefined || items.length < found.length } satisfies WaitingWork
})
