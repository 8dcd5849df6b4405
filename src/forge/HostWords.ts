/** Recognises what hosts write in their responses, by vendor. No other file compares their words. Pure. */
import type { ForgeError } from "./ForgeError.ts"

const words = {
  /** GitHub: a limit that has the status of a refusal, or that of a success (GraphQL). */
  githubLimits: /rate limit|abuse detection/i,
  /** GitHub: a limit that has the status of an invalid request. */
  githubTooQuick: /submitted too quickly/i,
  /** GitHub: the account has a review that is not submitted. */
  githubOnePending: /one pending review/i,
  /** GitLab: the commit status is set already. */
  gitlabKeepsStatus: /Cannot transition status/,
  /** GitLab: this version cannot parse the position. It reports a line outside of the diff differently. */
  gitlabRefusesPosition: /valid json schema/
} as const

type Meaning = keyof typeof words

/** Returns whether a text of a host has this meaning. */
export const means = (text: string, meaning: Meaning): boolean => words[meaning].test(text)

/** Returns whether the host refused a request with words of this meaning. */
export const isRefusedWith = ({ reason, why }: ForgeError, meaning: Meaning): boolean =>
  reason === "invalid" && why._tag === "HostRefused" && means(why.words ?? "", meaning)
