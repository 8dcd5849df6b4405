/** Permissions of accounts and tokens at the fake hosts that report them. Added to the dialects of the fake forge. */
import { findRepository } from "../../demo/DemoForgeDialect.ts"
import type { ApiContext, DemoDialect, DemoRoute } from "../../demo/DemoForgeDialect.ts"
import type { DemoRepository } from "../../demo/DemoForgeState.ts"

/** Team of an organisation of Gitea or Forgejo, with the permission of each unit, and that which the host derives from them. */
export interface FakeTeam {
  readonly id: number
  readonly permission: string
  readonly units: Readonly<Record<string, string>>
  readonly members: ReadonlyArray<string>
}

export interface FakeAccess {
  push: boolean
  admin: boolean
  /** Undefined for the repository of a person. */
  teams: ReadonlyArray<FakeTeam> | undefined
  /** Accounts that were added to the repository itself. */
  collaborators: ReadonlyArray<string>
  /** Scopes of the token: GitHub's classic ones and GitLab's; undefined where the token does not report them. */
  scopes: ReadonlyArray<string> | undefined
}

const all = new WeakMap<DemoRepository, FakeAccess>()
export const getAccess = (repository: DemoRepository): FakeAccess => {
  const known = all.get(repository) ?? {
    push: true,
    admin: true,
    teams: undefined,
    collaborators: [],
    scopes: undefined
  }
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
    const { admin, push } = getAccess(found)
    return { status: 200, body: { id: found.id, private: true, permissions: { pull: true, push, admin } } }
  }
}

const noTeams = { status: 405, body: { message: "repo is not owned by an organization" } }
const isNamed = (name: string | undefined) => (other: string) => other.toLowerCase() === name?.toLowerCase()

/** Teams and collaborators as Gitea and Forgejo return them. Only members of a team may read its members. */
const teams: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/teams",
    answer: (context) => {
      const found = findRepository(context)
      const listed = found === undefined ? undefined : getAccess(found).teams
      if (listed === undefined) return noTeams
      return {
        status: 200,
        body: listed.map(({ id, permission, units }) => ({ id, name: `team-${id}`, permission, units_map: units }))
      }
    }
  },
  {
    method: "GET",
    path: "/teams/{id}/members/{username}",
    answer: (context) => {
      const { id, username } = context.params
      const team = onlyOne(context)?.teams?.find((one) => String(one.id) === id)
      if (team?.members.some(isNamed(context.request.user.login)) !== true)
        return { status: 403, body: { message: "Must be a team member" } }
      return team.members.some(isNamed(username))
        ? { status: 200, body: { login: username } }
        : { status: 404, body: { message: "The target couldn't be found." } }
    }
  },
  {
    method: "GET",
    path: "/repos/{owner}/{repo}/collaborators/{collaborator}",
    answer: (context) => {
      const isOne = onlyOne(context)?.collaborators.some(isNamed(context.params["collaborator"])) === true
      return isOne ? { status: 204 } : { status: 404, body: { message: "The target couldn't be found." } }
    }
  },
  {
    // Like the host, it lists those who may read pull requests, too.
    method: "GET",
    path: "/repos/{owner}/{repo}/assignees",
    answer: (context) => {
      const found = findRepository(context)
      const members = found === undefined ? [] : (getAccess(found).teams ?? []).flatMap((team) => team.members)
      return {
        status: 200,
        body: [...new Set([...(found?.permissions.keys() ?? []), ...members])].map((login) => ({ login }))
      }
    }
  }
]

const gitlab: ReadonlyArray<DemoRoute> = [
  {
    method: "GET",
    path: "/projects/{id}",
    answer: (context) => {
      const level = onlyOne(context)?.push === true ? 30 : 20
      const { id: given } = context.params
      const found = [...context.state.repositories.values()].find(({ fullName, id }) =>
        [fullName, String(id)].includes(given ?? "")
      )
      const fork = [...context.state.repositories.values()]
        .flatMap(({ pulls }) => [...pulls.values()].flatMap(({ headRepository }) => headRepository ?? []))
        .find(({ id }) => String(id) === given)
      // Only accounts with a name of one part are people here.
      if (fork !== undefined)
        return {
          status: 200,
          body: {
            id: fork.id,
            namespace: { kind: fork.owner.includes("/") ? "group" : "user", full_path: fork.owner }
          }
        }
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
  const own = { gitea: [repository, ...teams], github: [repository], gitlab }[kind]
  const routes = [...own, ...dialect.routes]
  return { ...dialect, routes: kind === "github" ? routes.map(withScopes) : routes }
}
