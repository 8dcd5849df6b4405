/** Determines the permissions that reviews need and a GitLab token lacks, as text for operators. Pure. */

const developer = 30

/** `scopes` is undefined for a token that cannot read its own record. */
export const missingOfScopes = (scopes: ReadonlyArray<string> | undefined): ReadonlyArray<string> =>
  scopes === undefined || scopes.includes("api")
    ? []
    : [`the token has ${scopes.length === 0 ? "no scope" : `the scopes ${scopes.join(", ")}`}; it needs api`]

/** `level` is the higher of the account's roles in the project and its group; undefined where it is a member of neither. */
export const missingOfRole = (level: number | undefined): ReadonlyArray<string> => {
  if (level !== undefined && level >= developer) return []
  const role = level === undefined ? "is not a member of the project" : "has a role in the project below Developer"
  return [`the account ${role}; unless it is an administrator, commit status, labels and reviews need Developer`]
}
