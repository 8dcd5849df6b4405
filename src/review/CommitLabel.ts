/** The commit of a range that a patch is from. */
export interface CommitLabel {
  /** 1-based, oldest first. */
  readonly index: number
  readonly of: number
  readonly id: string
  readonly title: string
}
