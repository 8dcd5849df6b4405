/** Recognises what hosts mean by a response, by the tables of facts about each host. No other file compares their words. Pure. */
import type { ForgeError } from "../ForgeError.ts"
import { githubWords } from "../github/Facts.ts"
import { gitlabWords } from "../gitlab/Facts.ts"

const words = { ...githubWords, ...gitlabWords }

type Meaning = keyof typeof words

/** Returns whether a text of a host has this meaning. */
export const means = (text: string, meaning: Meaning): boolean => words[meaning].test(text)

/** Returns whether the host refused a request with words of this meaning. */
export const isRefusedWith = ({ reason, why }: ForgeError, meaning: Meaning): boolean =>
  reason === "invalid" && why._tag === "HostRefused" && means(why.words ?? "", meaning)

/** Returns whether the host refused a request for one of these reasons. */
export const isRefused =
  (reasons: ReadonlyArray<ForgeError["reason"]>) =>
  ({ reason }: ForgeError): boolean =>
    reasons.includes(reason)
