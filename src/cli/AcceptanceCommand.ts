/** Implements `aicr acceptance`: prints which kinds of findings the maintainers of a repository accept and which ones are folded, or resets them. */
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { request, urlFlag } from "./AdminCall.ts"
import type { AdminClient, OpenAdmin } from "./AdminCall.ts"
import { configFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { count, oneLine } from "./Wording.ts"

const listProjects = Effect.fnUntraced(function* ({ projects }: AdminClient, repository: string) {
  const { items } = yield* request(projects.list({ query: { repo: repository } }))
  if (items.length === 0)
    return yield* refused(`${oneLine(repository)}: no project; expected OWNER/NAME of a reviewed repository`)
  return items.map(({ trigger, workspace }) => ({ workspace, name: `${trigger}:${repository}` }))
})

const readKinds = Effect.fnUntraced(function* (client: AdminClient, repository: string) {
  const projects = yield* listProjects(client, repository)
  return yield* Effect.forEach(projects, (project) =>
    Effect.map(request(client.projects.acceptance({ query: project })), (found) => ({ ...project, ...found }))
  )
})

const reset = Effect.fnUntraced(function* (client: AdminClient, repository: string, category: string | undefined) {
  const names = new Set((yield* listProjects(client, repository)).map(({ name }) => name))
  const payload = category === undefined ? {} : { category }
  const all = yield* Effect.forEach(names, (name) => request(client.projects.forget({ payload: { name, ...payload } })))
  return all.reduce((sum, { forgotten }) => sum + forgotten, 0)
})

type Kinds = Effect.Success<ReturnType<typeof readKinds>>[number]

/** Formats the kinds of findings of a repository in a workspace. */
export const formatKinds = ({ floor, items, name, workspace }: Kinds): ReadonlyArray<string> => [
  `${oneLine(name)} in workspace ${workspace}: ${floor === 0 ? "nothing is folded (review.acceptance_floor is 0)" : `folded below ${Math.round(floor * 100)} %`}`,
  ...items.map(
    ({ accepted, category, folded, judged, model, severity, share }) =>
      `  ${folded ? "folded" : "shown "}  ${severity.padEnd(8)} ${oneLine(category)}: ${accepted} of ${count(judged, "finding")} accepted, an estimated ${Math.round(share * 100)} % (${oneLine(model)})`
  ),
  ...(items.length === 0 ? ["  no finding was accepted or dismissed by a maintainer yet"] : [])
]

export const acceptanceCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) =>
  Command.make(
    "acceptance",
    {
      config: configFlag,
      url: urlFlag,
      json: jsonFlag,
      reset: Flag.Boolean("reset").pipe(
        Flag.withDefault(false),
        Flag.withDescription("What became of findings until now counts no longer")
      ),
      category: Flag.String("category").pipe(
        Flag.withMetavar("NAME"),
        Flag.withDescription("With --reset: only this category"),
        Flag.optional
      ),
      repository: Argument.String("OWNER/NAME").pipe(Argument.withDescription("Full name of the repository"))
    },
    Effect.fnUntraced(function* ({ category, config, json, repository, reset: isReset, url }) {
      const { openAdmin } = yield* runs
      if (Option.isSome(category) && !isReset) return yield* refused("--category needs --reset")
      if (isReset) {
        const forgotten = yield* openAdmin({ config, url, use: "records" }, (client) =>
          reset(client, repository, Option.getOrUndefined(category))
        )
        return yield* Console.log(
          json ? JSON.stringify({ forgotten }) : `${count(forgotten, "finding")} no longer counted.`
        )
      }
      const found = yield* openAdmin({ config, url, use: "records" }, (client) => readKinds(client, repository))
      if (json) return yield* Console.log(JSON.stringify({ projects: found }, null, 2))
      for (const line of found.flatMap(formatKinds)) yield* Console.log(line)
    })
  ).pipe(
    Command.withDescription("Print which kinds of findings maintainers accept and which are folded, or reset them"),
    Command.withExamples([
      { command: "aicr acceptance team/app", description: "By category, severity and model" },
      { command: "aicr acceptance team/app --reset --category testing", description: "The team writes tests now" }
    ])
  )
