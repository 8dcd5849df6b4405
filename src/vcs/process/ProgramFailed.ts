/** Makes the reason for which a program failed from what it printed. Pure. */
import { verbatimReason } from "../../domain/Reason.ts"
import type { Reason } from "../../domain/Reason.ts"

/** `command`: the program and its command, `git fetch`. `printed`: redacted, on one line. */
export const programFailed = (command: string, printed: string, advice: Reason | undefined): Reason => ({
  _tag: "ProgramFailed",
  command,
  why: printed === "" ? { _tag: "NoMessage" } : verbatimReason(printed),
  advice
})
