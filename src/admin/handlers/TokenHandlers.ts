/** Handles requests about tokens of programs. The text of a token leaves the service once, in the response that creates it. */
import { randomBytes } from "node:crypto"
import { Clock, Duration, Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ConfigStore } from "../../config/ConfigStore.ts"
import { foldRepo } from "../../domain/Change.ts"
import { newId } from "../../domain/Ids.ts"
import { digestToken, tokenPrefix } from "../../domain/ServiceToken.ts"
import { ServiceTokens } from "../../store/ServiceTokens.ts"
import { AdminHttpApi } from "../api/AdminHttpApi.ts"
import { conflict, invalid, invalidAll, notFound } from "../api/Problems.ts"
import { CurrentUser } from "../api/Rules.ts"
import { readDays, serviceToken } from "../api/TokenGroup.ts"
import type { NewToken } from "../api/TokenGroup.ts"
import { orUnavailable } from "./Available.ts"

/** Returns the keys of the named repositories; fails for triggers that are not configured. */
const repositoryKeys = Effect.fnUntraced(function* (named: ReadonlyArray<string>) {
  const { triggers } = (yield* ConfigStore).current()
  const split = named.map((name) => ({ trigger: name.split(":", 1)[0] ?? "", name: name.slice(name.indexOf(":") + 1) }))
  const [first, ...others] = split.flatMap(({ trigger }, at) =>
    triggers.has(trigger)
      ? []
      : [
          {
            path: `repositories.${at}`,
            reason: { _tag: "TriggerUnknown", trigger: JSON.stringify(trigger) } as const
          }
        ]
  )
  if (first !== undefined) return yield* invalidAll([first, ...others])
  return [...new Set(split.map(({ name, trigger }) => `${trigger}:${foldRepo(name)}`))]
})

const create = Effect.fnUntraced(function* (requested: NewToken) {
  const { name, role, scopes } = requested
  if (scopes.length === 0 && role === undefined) return yield* invalid("scopes", { _tag: "ScopeOrRoleExpected" })
  if (role !== undefined && (requested.repositories ?? []).length > 0)
    return yield* invalid("repositories", { _tag: "RoleForEveryRepository" })
  const repositories = yield* repositoryKeys(requested.repositories ?? [])
  const { username } = yield* CurrentUser
  const token = `${tokenPrefix}${randomBytes(32).toString("base64url")}`
  const createdAt = yield* Clock.currentTimeMillis
  const created = {
    id: newId(),
    name,
    digest: digestToken(token) ?? "",
    scopes: [...new Set(scopes)],
    repositories,
    role,
    createdBy: username,
    createdAt,
    expiresAt: createdAt + Duration.toMillis(Duration.days(readDays(requested)))
  }
  if (!(yield* (yield* ServiceTokens).create(created)))
    return yield* conflict("name_taken", { _tag: "TokenNameTaken", name })
  yield* Effect.logInfo("token created", { token_id: created.id, name, username, role })
  return { token, ...serviceToken.view(created) }
})

const revoke = Effect.fnUntraced(function* (id: string) {
  const { username } = yield* CurrentUser
  const revoked = yield* (yield* ServiceTokens).revoke(id, yield* Clock.currentTimeMillis)
  if (revoked === undefined) return yield* notFound({ _tag: "TokenUnknown" })
  yield* Effect.logInfo("token revoked", { token_id: id, name: revoked.name, username })
  return serviceToken.view(revoked)
})

export const layer = HttpApiBuilder.group(AdminHttpApi, "tokens", (handlers) =>
  handlers.handleAll({
    list: () =>
      ServiceTokens.use(({ list }) => list).pipe(
        Effect.map((found) => ({ items: found.map(serviceToken.view) })),
        orUnavailable
      ),
    create: ({ payload }) => orUnavailable(create(payload)),
    revoke: ({ params }) => orUnavailable(revoke(params.id))
  })
)
