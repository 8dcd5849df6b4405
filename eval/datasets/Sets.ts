/** The table of public sets of labelled changes. */
import { readKodus } from "./KodusSet.ts"
import type { ReadRecord } from "./LabelledSet.ts"
import { readQodo } from "./QodoSet.ts"
import { readSwePrBench } from "./SwePrBenchSet.ts"

export const setNames = ["qodo", "kodus", "swe-prbench"] as const
export type SetName = (typeof setNames)[number]

export const labelledSets: Readonly<Record<SetName, ReadRecord>> = {
  qodo: readQodo,
  kodus: readKodus,
  "swe-prbench": readSwePrBench
}
