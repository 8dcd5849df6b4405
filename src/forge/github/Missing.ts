/**
 * Determines the permissions that reviews need and a GitHub credential lacks. A classic token reports its
 * scopes in a header, the installation of an app its permissions. A fine-grained token reports neither, so a missing permission
 * shows only when a request is refused. Pure.
 */
import type { Reason } from "../../domain/Reason.ts"
import { levels } from "./Facts.ts"

/** Use of each permission of an app. */
const needed = {
  contents: ["read", { _tag: "UseCode" }],
  pull_requests: ["write", { _tag: "UseReviews" }],
  issues: ["write", { _tag: "UseIssues" }],
  checks: ["write", { _tag: "UseChecks" }]
} as const satisfies Readonly<Record<string, readonly [level: "read" | "write", use: Reason]>>

export const missingOfInstallation = (granted: Readonly<Record<string, string>>): ReadonlyArray<Reason> =>
  Object.entries(needed).flatMap(([name, [level, use]]) =>
    levels.indexOf(granted[name] ?? "") >= levels.indexOf(level)
      ? []
      : [{ _tag: "InstallationLacks", permission: `${name}: ${level}`, use }]
  )

/** Returns whether an installation may write check runs. */
export const mayWriteChecks = ({ checks = "" }: Readonly<Record<string, string>>): boolean =>
  levels.indexOf(checks) >= levels.indexOf("write")

/** `header`: `X-OAuth-Scopes`, which only classic tokens have. */
export const missingOfScopes = (header: string | undefined, isPrivate: boolean): ReadonlyArray<Reason> => {
  if (header === undefined) return []
  const scopes = header.split(",").map((scope) => scope.trim())
  if (scopes.includes("repo") || (!isPrivate && scopes.includes("public_repo"))) return []
  const has: Reason = header.trim() === "" ? { _tag: "NoScope" } : { _tag: "HasScopes", scopes }
  return [{ _tag: "ClassicTokenLacksScope", has, other: isPrivate ? undefined : "public_repo" }]
}
