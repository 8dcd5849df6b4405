/** Names of the changes of a range, and their maximum number. */

export interface StepName {
  /** Number of the revision or changelist. */
  readonly id: string
  readonly title: string
}

/** Each is compared by commands of its own. */
export const maxSteps = 100
const maxTitle = 1000

/** Returns the first line of a message. */
export const toTitle = (message: string): string => (message.split("\n", 1)[0] ?? "").slice(0, maxTitle)
