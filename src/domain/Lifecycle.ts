/** Statuses of a record and the ones that may follow each: for compare-and-set updates, and for readers who ask whether it ended. */

export interface Lifecycle<Status extends string> {
  readonly canMove: (from: Status, to: Status) => boolean
  /** Returns whether no status follows. */
  readonly isTerminal: (status: Status) => boolean
  /** Returns the statuses from which `to` may be entered. */
  readonly listSources: (to: Status) => ReadonlyArray<Status>
}

export const makeLifecycle = <Status extends string>(
  statuses: ReadonlyArray<Status>,
  next: Readonly<Record<Status, ReadonlyArray<Status>>>
): Lifecycle<Status> => ({
  canMove: (from, to) => next[from].includes(to),
  isTerminal: (status) => next[status].length === 0,
  listSources: (to) => statuses.filter((from) => next[from].includes(to))
})
