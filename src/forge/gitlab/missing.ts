/** What a GitLab token may not do that reviews need, in words for people. Pure. */

const developer = 30

/** Undefined where the token may not be asked about itself. */
export const missingOfScopes = (scopes: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  scopes === undefined || scopes.includes("api")
    ? []
    : [`the token has ${scopes.length === 0 ? "no scope" : `the scopes ${scopes.join(", ")}`}; it needs api`]

/** The higher of what the account is in the project and in its group; undefined where it is no member of either. */
export const missingOfRole = (level: number | undefined): ReadonlyArray<string> => {
  if (level !== undefined && level >= developer) return []
  const role = level === undefined ? "is not a member of the project" : "has a role in the project below Developer"
  return [`the account ${role}; unless it is an administrator, commit status, labels and reviews need Developer`]
}
