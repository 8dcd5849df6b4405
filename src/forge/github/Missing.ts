/**
 * Determines the permissions that reviews need and a GitHub credential lacks, as text for operators. A classic token reports its
 * scopes in a header, the installation of an app its permissions. A fine-grained token reports neither, so a missing permission
 * shows only when a request is refused. Pure.
 */

/** Use of each permission of an app. */
const needed = {
  contents: ["read", "reading the code"],
  pull_requests: ["write", "reviews"],
  issues: ["write", "summaries, issues and labels"],
  statuses: ["write", "the commit status"]
} as const satisfies Readonly<Record<string, readonly [level: "read" | "write", use: string]>>

const levels = ["read", "write", "admin"]

export const missingOfInstallation = (granted: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  Object.entries(needed).flatMap(([name, [level, use]]) =>
    levels.indexOf(granted[name] ?? "") >= levels.indexOf(level)
      ? []
      : [`the app's installation lacks the permission ${name}: ${level} (${use}); grant it in the app's settings`]
  )

/** `header`: `X-OAuth-Scopes`, which only classic tokens have. */
export const missingOfScopes = (header: string | undefined, isPrivate: boolean): ReadonlyArray<string> => {
  if (header === undefined) return []
  const scopes = header.split(",").map((scope) => scope.trim())
  if (scopes.includes("repo") || (!isPrivate && scopes.includes("public_repo"))) return []
  const has = header.trim() === "" ? "no scope" : `the scopes ${scopes.join(", ")}`
  return [`the token has ${has}; a classic token needs repo${isPrivate ? "" : " or public_repo"}`]
}
