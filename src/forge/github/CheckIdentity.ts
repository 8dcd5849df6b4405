/** The name and the id by which a check or status of the service is recognised. Pure. */
import type { HostStatus } from "../Forge.ts"

export const statusContext = "aicr/review"

/** Returns the id that the service gives a check. A delivery about the check has it, also for the head of a fork. */
export const toExternalId = ({ key, number }: Pick<HostStatus, "key" | "number">): string => `${number ?? ""}:${key}`

/** Returns the number of the pull request whose review a check shows; undefined for a check of others. */
export const readNumber = (name: string | undefined, externalId: string | undefined): number | undefined => {
  const [, number] = /^(\d{1,9}):/.exec(externalId ?? "") ?? []
  return name === statusContext && number !== undefined ? Number(number) : undefined
}
