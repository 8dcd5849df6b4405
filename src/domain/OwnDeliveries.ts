/** Combines deliveries that the texts of the service itself caused: each comment and each edit is one. Pure. */

interface Delivery {
  readonly reason?: string | undefined
  readonly sender?: string | undefined
  readonly event: string
  readonly action?: string | undefined
}

/** Deliveries of one sender, oldest first. */
export interface OwnDeliveries<D> {
  readonly deliveries: readonly [first: D, ...others: ReadonlyArray<D>]
  readonly last: D
  /** Distinct events with their actions, such as `issue_comment edited`. */
  readonly events: ReadonlyArray<string>
}

/** Separates the deliveries that say something from groups of at least two with the reason `own_event`, one group per sender. */
export const separateOwn = <D extends Delivery>(
  deliveries: ReadonlyArray<D>
): { readonly single: ReadonlyArray<D>; readonly own: ReadonlyArray<OwnDeliveries<D>> } => {
  const groups = Map.groupBy(
    deliveries.filter(({ reason }) => reason === "own_event"),
    ({ sender }) => sender
  )
  const own = [...groups.values()].flatMap(([first, ...others]) => {
    const last = others.at(-1)
    if (first === undefined || last === undefined) return []
    const all = [first, ...others] as const
    const events = all.map(({ action, event }) => (action === undefined ? event : `${event} ${action}`))
    return [{ deliveries: all, last, events: [...new Set(events)] }]
  })
  const folded = new Set(own.flatMap((group) => group.deliveries))
  return { single: deliveries.filter((delivery) => !folded.has(delivery)), own }
}
