/** Implements `aicr log RUN`: prints the stored log of a review. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { LogLineRecord } from "../admin/api/RunRecords.ts"
import { isReason } from "../domain/Reason.ts"
import { inEnglish } from "../text/en.ts"
import { request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { oneLine, second } from "./Wording.ts"

/** Fields that are the same in each line of a review. */
const common: ReadonlySet<string> = new Set(["workspace", "target", "entry_id", "event_id"])

const formatValue = (value: unknown): string => {
  if (isReason(value)) return inEnglish(value)
  return typeof value === "string" ? value : JSON.stringify(value)
}

export const formatLine = ({ at, fields, level, message }: LogLineRecord): string => {
  const shown = Object.entries(fields).filter(([name]) => !common.has(name))
  const facts = shown.map(([name, value]) => ` ${name}=${formatValue(value)}`).join("")
  return `${second(at)}  ${level.padEnd(5)}  ${oneLine(message + facts)}`
}

export const logCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "log",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      id: Argument.String("RUN").pipe(Argument.withDescription("Id of a review, as `aicr why` prints it"))
    },
    Effect.fnUntraced(function* ({ config, id, json, url }) {
      const { openAdmin } = yield* runs
      const log = yield* openAdmin({ config, url, use: "records" }, (client) =>
        request(client.runs.log({ params: { id } }))
      )
      if (json) return yield* Console.log(JSON.stringify(log, null, 2))
      for (const line of log.lines) yield* Console.log(formatLine(line))
      if (log.lines.length === 0) yield* Console.log("Nothing is logged about this review.")
      if (log.cut)
        yield* Console.error("The log was full before the review ended; the log of the service has the rest.")
    })
  ).pipe(
    Command.withDescription("Print the log of a review, from all nodes"),
    Command.withExamples([
      {
        command: "aicr log 01a20e2f-24ce-7008-a2d4-896ff3ed3817",
        description: "From the running service, or from its stores"
      }
    ])
  )
