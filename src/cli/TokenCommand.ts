/** Implements `aicr token create|list|revoke`: the tokens with which programs use the service, such as coding agents (`aicr mcp`). */
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import type { TokenRecord } from "../admin/api/TokenGroup.ts"
import { AccessRole } from "../domain/AccessRole.ts"
import { TokenScope } from "../domain/ServiceToken.ts"
import { given, request, urlFlag } from "./AdminCall.ts"
import type { OpenAdmin } from "./AdminCall.ts"
import { columns } from "./Columns.ts"
import { configFlag } from "./ConfigFlag.ts"
import { refused } from "./Exit.ts"
import { jsonFlag } from "./JsonFlag.ts"
import { second } from "./Wording.ts"

/** Limit of the API. */
const maxRepositories = 100

const stateOf = ({ expires_at: expires, revoked_at: revoked }: TokenRecord, now: number): string =>
  revoked !== undefined ? "revoked" : Date.parse(expires) <= now ? "expired" : "valid"

/** Formats tokens as a table. `now` is in milliseconds since the epoch. */
export const formatTokens = (tokens: ReadonlyArray<TokenRecord>, now: number): string =>
  columns([
    ["NAME", "STATE", "SCOPES", "ROLE", "REPOSITORIES", "EXPIRES", "LAST USED", "CREATED BY"],
    ...tokens.map((token) => [
      token.name,
      stateOf(token, now),
      token.scopes.length === 0 ? "-" : token.scopes.join(","),
      token.role ?? "-",
      token.repositories.length === 0 ? "all" : token.repositories.join(","),
      second(token.expires_at),
      token.last_used_at === undefined ? "-" : second(token.last_used_at),
      token.created_by
    ])
  ])

const shared = { config: configFlag, url: urlFlag, json: jsonFlag }

const create = (openAdmin: OpenAdmin) =>
  Command.make(
    "create",
    {
      ...shared,
      name: Argument.String("NAME").pipe(Argument.withDescription("Name: letters, digits, dots, dashes, underscores")),
      scope: Flag.Literals("scope", TokenScope.literals).pipe(
        Flag.withDescription(
          "What it may do; may be repeated. read: reviews and findings; dispute: objections to findings"
        ),
        Flag.between(0, TokenScope.literals.length)
      ),
      role: Flag.Literals("role", AccessRole.literals).pipe(
        Flag.withDescription(
          "Role at the administration, for every repository. viewer: reads; operator: also controls reviews; editor: also changes the configuration; administrator: also manages access. Default: none"
        ),
        Flag.optional
      ),
      repository: Flag.String("repository").pipe(
        Flag.withAlias("r"),
        Flag.withMetavar("TRIGGER:OWNER/NAME"),
        Flag.withDescription("Repository that it may reach; may be repeated. Default: every repository"),
        Flag.between(0, maxRepositories)
      ),
      expires: Flag.Int("expires").pipe(
        Flag.withMetavar("DAYS"),
        Flag.withDescription("Days until it expires, 1 to 366. Default: 90"),
        Flag.optional
      )
    },
    Effect.fnUntraced(function* ({ config, expires, json, name, repository, role, scope, url }) {
      const payload = {
        name,
        scopes: [...new Set(scope)],
        ...(repository.length === 0 ? {} : { repositories: repository }),
        ...given({ expires_days: expires, role })
      }
      const created = yield* openAdmin({ config, url, use: "records" }, ({ tokens }) =>
        request(Effect.catchTag(tokens.create({ payload }), "StateConflict", ({ detail = "" }) => refused(detail)))
      )
      if (json) return yield* Console.log(JSON.stringify(created, null, 2))
      yield* Console.log(created.token)
      yield* Console.error(
        `Token ${created.name} expires at ${second(created.expires_at)}. It is not shown again; give it to an agent as AICR_TOKEN, or to a command as SVC_ADMIN_TOKEN.`
      )
    })
  ).pipe(
    Command.withDescription("Create a token and print it, once"),
    Command.withExamples([
      {
        command: "aicr token create laptop --scope read --scope dispute --repository main:acme/app --expires 30",
        description: "For a coding agent that works on one repository"
      },
      { command: "aicr token create grafana --role viewer", description: "For a program that reads the administration" }
    ])
  )

const list = (openAdmin: OpenAdmin) =>
  Command.make(
    "list",
    shared,
    Effect.fnUntraced(function* ({ config, json, url }) {
      const found = yield* openAdmin({ config, url, use: "records" }, ({ tokens }) => request(tokens.list()))
      if (json) return yield* Console.log(JSON.stringify(found, null, 2))
      yield* Console.log(found.items.length === 0 ? "No token exists." : formatTokens(found.items, Date.now()))
    })
  ).pipe(
    Command.withDescription("List tokens, without their texts"),
    Command.withExamples([
      { command: "aicr token list", description: "Which tokens exist, and when each was used last" }
    ])
  )

const revoke = (openAdmin: OpenAdmin) =>
  Command.make(
    "revoke",
    { ...shared, name: Argument.String("NAME").pipe(Argument.withDescription("Name or id of a token")) },
    Effect.fnUntraced(function* ({ config, json, name, url }) {
      const revoked = yield* openAdmin({ config, url, use: "records" }, ({ tokens }) =>
        Effect.gen(function* () {
          const { items } = yield* request(tokens.list())
          const found = items.find((one) => one.id === name || (one.name === name && one.revoked_at === undefined))
          if (found === undefined) return yield* refused(`${JSON.stringify(name)}: not a token that is not revoked`)
          return yield* request(tokens.revoke({ params: { id: found.id } }))
        })
      )
      yield* Console.log(json ? JSON.stringify(revoked, null, 2) : `Token ${revoked.name} is revoked.`)
    })
  ).pipe(
    Command.withDescription("End a token on all nodes, from its next request on"),
    Command.withExamples([{ command: "aicr token revoke laptop", description: "After a computer was lost" }])
  )

export const tokenCommand = (runs: Effect.Effect<{ readonly openAdmin: OpenAdmin }>) => {
  const openAdmin: OpenAdmin = (target, use) => Effect.flatMap(runs, (module) => module.openAdmin(target, use))
  return Command.make("token").pipe(
    Command.withDescription("Create, list and revoke the tokens of programs, such as coding agents"),
    Command.withSubcommands([create(openAdmin), list(openAdmin), revoke(openAdmin)])
  )
}
