/** Permissions of accounts and tokens at the fake hosts that report them. Added to the dialects of the fake forge. */
import { findRepository } from "../../src/demo/DemoForgeDialect.ts"
import type { ApiContext, DemoDialect, DemoRoute } from "../../src/demo/DemoForgeDialect.ts"
import type { DemoRepository } from "../../src/demo/DemoForgeState.ts"

export interface FakeAccess {
  push: boolean
  /** Scopes of the token: GitHub's classic ones and GitLab's; undefined where the token does not report them. */
  scopes: ReadonlyArray<string> | undefined
  /** Webhooks of the repository; undefined where the account may not list them. */
  hooks: ReadonlyArray<object> | undefined
  /** Log of the deliveries of every webhook, in the form of the host. */
  deliveries: ReadonlyArray<object>
}

const all = new WeakMap<DemoRepository, FakeAccess>()
export const getAccess = (repository: DemoRepository): FakeAccess => {
  const known = all.get(repository) ?? { push: true, scopes: undefined, hooks: undefined, deliveries: [] }
  all.set(repository, known)
  return known
}

const onlyOne = ({ state }: ApiContext) => [...state.repositories.values()].map(getAccess)[0]

const repository: DemoRoute = {
  method: "GET",
  path: "/repos/{owner}/{repo}",
  answer: (context) => {
    const found = findRepository(context)
    if (found === undefined) return { status: 404, body: { message: "Not Found" } }
    const { push } = getAccess(found)
    return { status: 200, body: { id: found.id, private: true, permissions: { pull: true, push, admin: false } } }
  }
}

const hooks: DemoRoute = {
  method: "GET",
  path: "/repos/{owner}/{repo}/hooks",
  answer: (context) => {
    const found = findRepository(context)
    const listed = found === undefined ? undefined : getAccess(found).hooks
    return listed === undefined
      ? { status: 403, body: { message: "user should be an admin" } }
      : { status: 200, body: listed }
  }
}

const deliveries: DemoRoute = {
  method: "GET",
  path: "/repos/{owner}/{repo}/hooks/{hook_id}/deliveries",
  answer: (context) => {
    const found = findRepository(context)
    return { status: 200, body: found === undefined ? [] : getAccess(found).deliveries }
  }
}

const gitlab: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: "/projects/{id}/hooks",
    answer: (context) => {
      const listed = onlyOne(context)?.hooks
      return listed === undefined ? { status: 403, body: { message: "403 Forbidden" } } : { status: 200, body: listed }
    }
  },
  {
    method: "GET",
    path: "/projects/{id}/hooks/{hook_id}/events",
    answer: (context) => ({ status: 200, body: onlyOne(context)?.deliveries ?? [] })
  },
  {
    method: "GET",
    path: "/projects/{id}",
    answer: (context) => {
      const level = onlyOne(context)?.push === true ? 30 : 20
      const { id: given } = context.params
      const found = [...context.state.repositories.values()].find(({ fullName, id }) =>
        [fullName, String(id)].includes(given ?? "")
      )
      if (found === undefined) return { status: 404, body: { message: "404 Project Not Found" } }
      return {
        status: 200,
        body: { id: found.id, permissions: { project_access: { access_level: level }, group_access: null } }
      }
    }
  },
  {
    method: "GET",
    path: "/personal_access_tokens/self",
    answer: (context) => {
      const scopes = onlyOne(context)?.scopes
      return scopes === undefined
        ? { status: 404, body: { message: "404 Not found" } }
        : { status: 200, body: { id: 1, name: "reviewer", scopes } }
    }
  }
]

/** Adds the scopes of a classic token to every response, as GitHub does. */
const withScopes = (route: DemoRoute): DemoRoute => ({
  ...route,
  answer: async (context) => {
    const answer = await route.answer(context)
    const scopes = onlyOne(context)?.scopes
    return scopes === undefined
      ? answer
      : { ...answer, headers: { ...answer.headers, "x-oauth-scopes": scopes.join(", ") } }
  }
})

export const withAccess = (kind: "gitea" | "github" | "gitlab", dialect: DemoDialect): DemoDialect => {
  const own = { gitea: [repository, hooks], github: [repository, hooks, deliveries], gitlab }[kind]
  const routes = [...own, ...dialect.routes]
  return { ...dialect, routes: kind === "github" ? routes.map(withScopes) : routes }
}
