/** Tests who may write, for every role at every host, and for an account to which the host discloses nothing. */
import { afterEach, describe, expect, it } from "vitest"
import { Effect } from "effect"
import { getAccess } from "../harness/FakeAccess.ts"
import type { FakeTeam } from "../harness/FakeAccess.ts"
import { fault } from "../harness/FakeForge.ts"
import { failure, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"

let host: Host | undefined
afterEach(async () => {
  host?.forge.expectContract()
  await host?.forge.stop()
  host = undefined
})

const mayWrite = async (here: Host, username: string) => {
  const result = await run(Effect.result(here.client.canWrite(here.repo, username)))
  return result._tag === "Success" ? result.success : result.failure.reason
}

const units = (code: string, issues: string) => ({ "repo.code": code, "repo.issues": issues, "repo.wiki": "none" })
/** Permission that Gitea and Forgejo derive from units: the lowest other than none. */
const team = (id: number, code: string, issues: string, ...members: ReadonlyArray<string>): FakeTeam => {
  const levels = ["read", "write"].filter((level) => level === code || level === issues)
  return { id, permission: levels[0] ?? "none", units: units(code, issues), members }
}
const reader = "eve"

interface Case {
  readonly title: string
  /** Permission of the account of the trigger. */
  readonly own: "write" | "admin"
  /** Permission of the person, as the host returns it to administrators. */
  readonly level: string
  readonly teams?: ReadonlyArray<FakeTeam>
  readonly collaborators?: ReadonlyArray<string>
  readonly may: boolean | "forbidden"
}

const cases: ReadonlyArray<Case> = [
  { title: "a reader of a person's repository", own: "admin", level: "read", may: false },
  { title: "a collaborator with write access", own: "admin", level: "write", may: true },
  { title: "an administrator", own: "admin", level: "admin", may: true },
  { title: "the owner", own: "admin", level: "owner", may: true },
  { title: "an account without access", own: "admin", level: "none", may: false },
  { title: "a level that a later release adds", own: "admin", level: "triage", may: false },
  { title: "anybody, to an account that may only write", own: "write", level: "write", may: "forbidden" },
  {
    title: "a reader in an organisation, to an account that may only write",
    own: "write",
    level: "read",
    teams: [team(1, "write", "write", "aicr"), team(2, "read", "read", reader)],
    may: "forbidden"
  },
  {
    title: "a member of a team of the account that may write code",
    own: "write",
    level: "write",
    teams: [team(1, "write", "write", "aicr", reader)],
    may: true
  },
  {
    title: "a member of a team of the account that may write issues only",
    own: "write",
    level: "write",
    teams: [team(1, "write", "write", "aicr"), team(2, "read", "write", "aicr", reader)],
    may: "forbidden"
  },
  {
    title: "a member of another team that may write code, to an account that may only write",
    own: "write",
    level: "write",
    teams: [team(1, "write", "write", "aicr"), team(2, "write", "write", reader)],
    may: "forbidden"
  },
  {
    title: "a member of a team that may write nothing but issues",
    own: "admin",
    level: "write",
    teams: [team(1, "none", "write", reader)],
    may: false
  },
  {
    title: "a collaborator of an organisation's repository, beside a team that may write nothing but issues",
    own: "admin",
    level: "write",
    teams: [team(1, "none", "write")],
    collaborators: ["Eve"],
    may: true
  },
  {
    title: "a member of a team that may write code, beside one that may write nothing but issues",
    own: "admin",
    level: "write",
    teams: [team(1, "none", "write"), team(2, "write", "write", "aicr", reader)],
    may: true
  },
  {
    title: "a member of a team that may write code and read issues, which the host returns as read",
    own: "admin",
    level: "read",
    teams: [team(1, "write", "read", "aicr", reader)],
    may: true
  },
  {
    title: "a reader beside such a team",
    own: "admin",
    level: "read",
    teams: [team(1, "write", "read", "aicr"), team(2, "read", "read", reader)],
    may: false
  },
  {
    title: "a member of a team without a map of units",
    own: "admin",
    level: "write",
    teams: [{ id: 1, permission: "write", units: {}, members: [reader] }],
    may: false
  }
]

describe.each(["gitea", "forgejo"] as const)("at %s", (kind) => {
  it.each(cases)("$title: $may", async ({ collaborators = [], level, may, own, teams }) => {
    const here = await startHost(kind)
    host = here
    const { repository } = here.pull
    repository.permissions.set("aicr", own)
    repository.permissions.set(reader, level as "read")
    Object.assign(getAccess(repository), { teams, collaborators })
    expect(await mayWrite(here, reader)).toBe(may)
    expect(here.forge.requests.map(({ path }) => path).filter((path) => path.endsWith("/assignees"))).toEqual([])
  })

  it("names the missing right", async () => {
    const here = await startHost(kind)
    host = here
    here.pull.repository.permissions.set("aicr", "write")
    const result = await failure(here.client.canWrite(here.repo, reader))
    expect(result.message).toContain("whether eve may write is unknown")
    expect(result.message).toContain("make the account an administrator of the repository")
  })
})

describe.each([
  ["github", "permission"],
  ["gitlab", "members/all"]
] as const)("at %s", (kind, path) => {
  it.each([
    ["none", false],
    ["read", false],
    ["write", true],
    ["admin", true]
  ] as const)("an account with %s: %s", async (level, may) => {
    const here = await startHost(kind)
    host = here
    here.pull.repository.permissions.set(reader, level)
    expect(await mayWrite(here, reader)).toBe(may)
  })

  it("an account of which nothing may be known is not taken for a writer", async () => {
    const here = await startHost(kind)
    host = here
    here.pull.repository.permissions.set(reader, "write")
    here.forge.fail(path, fault.forbidden)
    expect(await mayWrite(here, reader)).toBe("forbidden")
  })
})
