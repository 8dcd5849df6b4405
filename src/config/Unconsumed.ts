/**
 * Fields that this build reads and does not act on. Setting one gives a warning, so that nobody relies on it. A test holds the
 * list equal to the code: a field that nothing reads must stand here, and a row whose field came to be read must go.
 */

export interface Unconsumed {
  /** Path as in the reference; everything below it is meant too. Layers of workspaces are meant with the global field. */
  readonly path: string
  /** What does not happen. */
  readonly effect: string
  /** How code would read it, where the last word of the path is too common to tell. */
  readonly reader?: RegExp
}

const under = (
  prefix: string,
  effect: string,
  ...names: ReadonlyArray<string | readonly [name: string, reader: RegExp]>
): ReadonlyArray<Unconsumed> =>
  names.map((name) =>
    typeof name === "string"
      ? { path: `${prefix}.${name}`, effect }
      : { path: `${prefix}.${name[0]}`, effect, reader: name[1] }
  )

export const unconsumed: ReadonlyArray<Unconsumed> = [
  ...under(
    "triggers[]",
    "Perforce changes are not read",
    ["port", /P4PORT/],
    ["user", /P4PORT/],
    ["user_env", /P4PORT/],
    ["ticket", /P4PORT/],
    "ticket_env",
    ["password", /P4PORT/],
    ["password_env", /P4PORT/],
    ["workspace", /P4PORT/]
  ),
  ...under(
    "triggers[]",
    "Subversion changes are not read",
    ["username", /trust-server-cert/],
    ["username_env", /trust-server-cert/],
    "trust_server_cert"
  ),
  ...under("workspaces.defaults", "agent CLIs do not run in a sandbox", ["sandbox", /\.sandbox\b/]),
  ...under(
    "workspaces.defaults.context_repositories[]",
    "only git repositories are read as context",
    ["repository_url", /trust-server-cert/],
    ["revision", /trust-server-cert|P4PORT/],
    ["port", /P4PORT/],
    ["user", /P4PORT/],
    ["user_env", /P4PORT/],
    ["ticket", /P4PORT/],
    ["ticket_env", /P4PORT/],
    ["password", /P4PORT/],
    ["password_env", /P4PORT/],
    ["depot_path", /P4PORT/]
  ),
  ...under("agent", "no agent CLI is run", "timeout_seconds", "auto_approve", ["sandbox", /\.sandbox\b/]),
  ...under("agent", "no agent CLI is run", "context_compaction", "web_search"),
  {
    path: "outputs.author_resolution.directory_cache_ttl_seconds",
    effect: "no member directory is kept"
  },
  ...under("outputs.channels[]", "the change's own project is written to", ["project_id", /channel\.project_id/]),
  ...under(
    "outputs.channels[]",
    "chat applications receive nothing",
    ["app_id", /channel\.app_id/],
    "app_secret",
    "app_secret_env",
    "receive_id",
    "receive_id_type",
    "member_directory",
    "user_mappings",
    "author_mappings",
    "guess_author",
    ["connection", /channel\.connection/],
    ["target", /channel\.target/]
  ),
  { path: "im", effect: "chat commands are not taken", reader: /\.im\b|command_bindings/ },
  // Sealed credentials are bound to its namespace (SealedPlaces.ts), whatever the configuration comes from.
  {
    path: "config_sources",
    effect: "configuration comes from the file only",
    reader: /config_sources\.runtime|secret_refs/
  },
  { path: "storage.retention.deleted_project_grace_days", effect: "projects are not removed" }
]

const rows = new Map(unconsumed.map((row) => [row.path, row]))

/** The row that covers a field, by its path in the reference. */
export const unconsumedAt = (path: string): Unconsumed | undefined => {
  const layered = path
    .replace(/^workspaces\.(?:defaults|instances\.<id>)\.(?=(?:agent|review|outputs)\b)/, "")
    .replace(
      /^workspaces\.instances\.<id>\.(?=(?:sandbox|triage|prompt|context_repositories|triage_model_chain|author_resolution_model_chain)\b)/,
      "workspaces.defaults."
    )
  return rows.get(layered)
}
