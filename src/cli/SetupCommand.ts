/**
 * Implements `aicr setup`: prints what is to be done so that the webhooks of a repository, or of the repositories of an owner, are complete, and
 * does it after a confirmation. Without a terminal it only prints, unless `--yes` is given.
 */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag, Prompt } from "effect/cli"
import type { SetUpRecord } from "../admin/api/TriggerGroup.ts"
import { isForgeKind } from "../domain/Kinds.ts"
import { inEnglish } from "../text/en.ts"
import { request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { ExitWith, refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { count, oneLine } from "./Wording.ts"

type Item = SetUpRecord["items"][number]

const nameOf = ({ name, scope }: Item): string => (name === "" ? scope : name)

/** Describes what is to be done to a webhook, or what is wrong with it, in one line. */
const formatPlanned = (item: Item): string => {
  const { action, problem, state } = item
  const why = problem === undefined ? "" : `: ${oneLine(inEnglish(problem))}`
  if (action === "create") return `${nameOf(item)}  create a webhook`
  if (action === "repair") return `${nameOf(item)}  repair the webhook${why}`
  return `${nameOf(item)}  ${state}${why}`
}

/** Lists what a person has to enter where the credential may not. */
const formatByHand = ({ by_hand: hand }: SetUpRecord): ReadonlyArray<string> => [
  "By hand, for each of these repositories, or once for the organisation:",
  `  ${hand.place}`,
  `  ${hand.owner_place}`,
  `  URL           ${hand.url}`,
  `  Content type  ${hand.content_type}`,
  "  Secret        the value of webhook_secret or webhook_secret_env of the trigger",
  `  Events        ${hand.events.join(", ")}`,
  `  Or grant the credential: ${oneLine(inEnglish(hand.rights))}`
]

/** Returns the trigger with this name, or the only one of a git host. */
const chooseTrigger = Effect.fnUntraced(function* ({ triggers }: AdminClient, given: string | undefined) {
  if (given !== undefined) return given
  const { items } = yield* request(triggers.list())
  const found = items.filter(({ enabled, kind }) => enabled && isForgeKind(kind)).map(({ name }) => name)
  const [only, ...others] = found
  if (only === undefined || others.length > 0)
    return yield* refused(
      `name one of the triggers with --trigger: ${found.join(", ") || "none is that of a git host"}`
    )
  return only
})

/** Returns whether the plan is to be done. */
const confirm = Effect.fnUntraced(function* (actions: number, yes: boolean) {
  if (yes) return true
  if (!process.stdin.isTTY || !process.stdout.isTTY) {
    yield* Console.log("Nothing is written. Repeat the command with --yes to do this.")
    return false
  }
  const message = `Write ${count(actions, "webhook")}?`
  return yield* Effect.orElseSucceed(Prompt.run(Prompt.Confirm({ message })), () => false)
})

interface Options {
  readonly target: string
  readonly trigger: string | undefined
  readonly yes: boolean
  readonly json: boolean
}

const isUnsolved = ({ action, state }: Item): boolean => action === undefined && state !== "complete"

/** Writes one webhook after the other, so that each result is printed. */
const write = Effect.fnUntraced(function* (
  { triggers }: AdminClient,
  name: string,
  items: ReadonlyArray<Item>,
  options: Options
) {
  const done: Array<Item> = []
  for (const item of items) {
    // A wider webhook is that of the whole target.
    const target = item.scope.startsWith("repository:") ? item.name : options.target
    const { items: results } = yield* request(triggers.setUp({ params: { name }, payload: { target, apply: true } }))
    done.push(...results)
    if (options.json) continue
    for (const result of results) {
      const wrote = result.action === undefined ? undefined : result.action === "create" ? "created" : "repaired"
      yield* Console.log(wrote === undefined ? formatPlanned(result) : `${nameOf(result)}  ${wrote}`)
    }
  }
  return done
})

const setUp = Effect.fnUntraced(function* (client: AdminClient, options: Options) {
  const { json, target, yes } = options
  const name = yield* chooseTrigger(client, options.trigger)
  const plan = yield* request(client.triggers.setUp({ params: { name }, payload: { target, apply: false } }))
  const planned = plan.items.filter(({ action }) => action !== undefined)
  if (!json) for (const item of plan.items) yield* Console.log(formatPlanned(item))
  const isWritten = planned.length > 0 && (json ? yes : yield* confirm(planned.length, yes))
  const done = isWritten ? yield* write(client, name, planned, options) : []
  const unsolved = [...plan.items.filter(isUnsolved), ...done.filter(isUnsolved)]
  if (json)
    yield* Console.log(JSON.stringify({ trigger: name, planned: plan.items, done, by_hand: plan.by_hand }, null, 2))
  else if (unsolved.length > 0) for (const line of formatByHand(plan)) yield* Console.log(line)
  else if (planned.length === 0) yield* Console.log("Nothing is to be done.")
  if (unsolved.length > 0)
    return yield* new ExitWith({ code: 1, message: `${count(unsolved.length, "webhook")} not complete` })
})

export const setupCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "setup",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      trigger: Flag.String("trigger").pipe(
        Flag.withDescription("Name of the trigger; default: the only one of a git host"),
        Flag.optional
      ),
      yes: Flag.Boolean("yes").pipe(Flag.withDefault(false), Flag.withDescription("Write without a confirmation")),
      target: Argument.String("TARGET").pipe(
        Argument.withDescription("A repository, such as team/app, or an organisation, a group or a person")
      )
    },
    Effect.fnUntraced(function* ({ config, json, target, trigger, url, yes }) {
      const { openAdmin } = yield* runs
      const options = { target, json, yes, trigger: Option.getOrUndefined(trigger) }
      const terminal = yield* Effect.context<Prompt.Environment>()
      yield* openAdmin({ config, url, use: "records" }, (client) => Effect.provide(setUp(client, options), terminal))
    })
  ).pipe(
    Command.withDescription(
      "Create and repair the webhooks of a repository, or of the repositories of an owner; says first what it will do"
    ),
    Command.withExamples([
      { command: "aicr setup team/app", description: "Says what it will do, and asks" },
      {
        command: "aicr setup team --yes",
        description: "The webhooks of all repositories of team that a workspace reviews"
      }
    ])
  )
