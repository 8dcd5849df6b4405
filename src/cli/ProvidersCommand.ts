/** Implements `aicr providers list|resume`: lists model providers with the state of their limiters, and ends a pause. */
import { Console, Effect } from "effect"
import { Argument, Command } from "effect/cli"
import type { ProviderRecord } from "../admin/api/ProviderGroup.ts"
import { detail, request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { columns } from "./Columns.ts"
import { configFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { second } from "./Wording.ts"

const row = ({ cost_today_usd: cost, id, rate_limit_rps: rate, state }: ProviderRecord): ReadonlyArray<string> => [
  id,
  ...(state === null
    ? ["not reported", "-", "-", "-", "-"]
    : [
        state.paused_until === undefined
          ? "active"
          : `paused until ${second(state.paused_until)} (${state.pause_cause ?? "unknown"})`,
        `${state.in_use}/${state.concurrency}`,
        String(state.waiting),
        state.errors.length === 0 ? "none" : state.errors.map(({ count, reason }) => `${reason} ${count}`).join(", "),
        String(state.tokens_per_minute)
      ]),
  rate === null ? "-" : String(rate),
  cost === null ? "-" : cost.toFixed(2)
]

/** Formats providers as a table. */
const formatProviders = (items: ReadonlyArray<ProviderRecord>): string =>
  columns([
    ["PROVIDER", "STATE", "IN USE", "WAITING", "ERRORS (1 H)", "TOKENS/MIN", "RATE/S", "USD TODAY"],
    ...items.map(row)
  ])

const shared = { config: configFlag, url: urlFlag, json: jsonFlag }

const list = (openAdmin: OpenAdmin) =>
  Command.make(
    "list",
    shared,
    Effect.fnUntraced(function* ({ config, json, url }) {
      const found = yield* openAdmin({ config, url, use: "records" }, ({ providers }) => request(providers.list()))
      if (json) return yield* Console.log(JSON.stringify(found, null, 2))
      yield* Console.log(found.items.length === 0 ? "No provider is configured." : formatProviders(found.items))
    })
  ).pipe(
    Command.withDescription("List providers with concurrency, pauses, and calls of the last hour on all nodes"),
    Command.withExamples([{ command: "aicr providers list", description: "Why reviews wait for a model" }])
  )

const resume = (openAdmin: OpenAdmin) =>
  Command.make(
    "resume",
    {
      ...shared,
      provider: Argument.String("PROVIDER").pipe(Argument.withDescription("Id of a provider (`llm.providers[].id`)"))
    },
    Effect.fnUntraced(function* ({ config, json, provider, url }) {
      const resumed = yield* openAdmin({ config, url, use: "records" }, ({ providers }) =>
        request(
          Effect.catchTag(providers.resume({ params: { id: provider } }), "NotFound", (problem) =>
            refused(`${JSON.stringify(provider)}: ${detail(problem)}`)
          )
        )
      )
      yield* Console.log(json ? JSON.stringify(resumed, null, 2) : `Provider ${provider} is resumed.`)
    })
  ).pipe(
    Command.withDescription("End the pause of a provider; its next refusal pauses it again"),
    Command.withExamples([
      { command: "aicr providers resume openai", description: "After the quota of the account was raised" }
    ])
  )

export const providersCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) => {
  const openAdmin: OpenAdmin = (target, use) => Effect.flatMap(runs, (module) => module.openAdmin(target, use))
  return Command.make("providers").pipe(
    Command.withDescription("List and resume model providers"),
    Command.withSubcommands([list(openAdmin), resume(openAdmin)])
  )
}
