/** Implements `aicr catch-up`: requests searches for changes that no delivery reported, and prints the state of the latest ones. */
import { Console, Effect, Option } from "effect"
import { Argument, Command } from "effect/cli"
import type { TriggerRecord } from "../admin/api/TriggerGroup.ts"
import { inEnglish } from "../text/en.ts"
import { request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { count, oneLine, second } from "./Wording.ts"

/** Describes the latest delivery and the latest searches of a trigger in one line. */
export const formatCatchUp = ({
  catch_up: state,
  last_delivery_at: delivered,
  name
}: Pick<TriggerRecord, "catch_up" | "last_delivery_at" | "name">): string => {
  const { failure, found = 0, found_at: at, found_since: since, last_at: last, skipped = 0 } = state ?? {}
  const how = state?.found_for && inEnglish({ _tag: "FoundBySearch", occasion: state.found_for })
  const gap = at === undefined ? "" : ` at ${second(at)}${since === undefined ? "" : `, after ${second(since)}`}`
  const parts = [
    delivered === undefined ? "no delivery of the last week" : `last delivery ${second(delivered)}`,
    last === undefined ? "no search yet" : `last search ${second(last)}`,
    ...(at === undefined ? [] : [`${count(found, "change")} ${how ?? "found without a delivery"}${gap}`]),
    ...(skipped === 0 ? [] : [`${skipped} not reviewed (catch_up.max_age_hours, max_changes)`]),
    ...(failure === undefined ? [] : [`incomplete: ${oneLine(inEnglish(failure))}`])
  ]
  return `${name}  ${parts.join("; ")}`
}

const searchAll = Effect.fnUntraced(function* ({ triggers }: AdminClient, name: string | undefined) {
  const { items } = yield* request(triggers.list())
  const searched = items.filter((one) => one.catch_up !== undefined && (name === undefined || one.name === name))
  if (name !== undefined && searched.length === 0)
    return yield* refused(
      `${JSON.stringify(name)}: not an enabled trigger of Perforce, Subversion or a git host with a credential`
    )
  for (const one of searched) yield* request(triggers.catchUp({ params: { name: one.name } }))
  return searched
})

export const catchUpCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "catch-up",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      trigger: Argument.String("TRIGGER").pipe(
        Argument.withDescription("Name of a trigger; default: every one that is searched"),
        Argument.optional
      )
    },
    Effect.fnUntraced(function* ({ config, json, trigger, url }) {
      const { openAdmin } = yield* runs
      const found = yield* openAdmin({ config, url, use: "records" }, (client) =>
        searchAll(client, Option.getOrUndefined(trigger))
      )
      if (json) return yield* Console.log(JSON.stringify({ triggers: found }, null, 2))
      for (const one of found) yield* Console.log(formatCatchUp(one))
      yield* Console.log(found.length === 0 ? "No trigger is searched." : "A search is requested.")
    })
  ).pipe(
    Command.withDescription(
      "Search for changes whose deliveries never arrived, and print what the latest search found"
    ),
    Command.withExamples([
      { command: "aicr catch-up gitea", description: "After the webhooks of this trigger were repaired" }
    ])
  )
