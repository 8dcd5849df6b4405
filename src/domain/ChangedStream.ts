/** The part of a change in one branch: a unit whose reviews are serial. */
export interface ChangedStream {
  /** Has the form of `ServerCheckoutRequest.branch`. */
  readonly branch: string
  /** Changed paths below the branch. `more`: some were not listed. */
  readonly paths: ReadonlyArray<string>
  readonly more: boolean
  /** Number of the change before it in this branch, or in the branch that it was copied from; undefined: it is the first. */
  readonly previous: string | undefined
  /** The change removed the branch itself. */
  readonly removed: boolean
  /** Subversion: it is in a folder of tags. */
  readonly tag: boolean
}
