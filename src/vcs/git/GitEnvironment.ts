/**
 * Environment of git: isolated from the configuration of the user, the system and the reviewed repository, without prompts,
 * hooks, filters, helpers and external programs. Configuration, including secrets, is passed through `GIT_CONFIG_COUNT` variables
 * only (git 2.31 and newer), never through arguments or files.
 */

/** One configuration entry; the value may be a secret. */
export type GitSetting = readonly [key: string, value: string]

const fixed: ReadonlyArray<GitSetting> = [
  ["core.hooksPath", "/dev/null"],
  ["core.attributesFile", "/dev/null"],
  ["core.excludesFile", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.autocrlf", "false"],
  ["core.quotePath", "false"],
  // A symbolic link in the change becomes a small file with its target, so that no path in a worktree leads out of it.
  ["core.symlinks", "false"],
  ["credential.helper", ""],
  ["fetch.recurseSubmodules", "false"],
  // Fetches are stored as packs, which are counted and merged; loose objects would accumulate.
  ["fetch.unpackLimit", "1"],
  ["submodule.recurse", "false"],
  // Limits memory: large blobs are streamed and not used for deltas, packs are mapped in small windows, one thread per command.
  ["core.bigFileThreshold", "8m"],
  ["core.packedGitWindowSize", "1m"],
  ["core.packedGitLimit", "64m"],
  ["core.deltaBaseCacheLimit", "16m"],
  ["pack.threads", "1"],
  ["pack.windowMemory", "16m"],
  ["pack.deltaCacheSize", "16m"],
  ["index.threads", "1"],
  ["checkout.workers", "1"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["protocol.version", "2"],
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "60"],
  ["advice.detachedHead", "false"]
]

/**
 * Variables of the service's environment that git and its HTTP transport receive. All others are dropped, including GIT_TRACE and
 * tokens.
 */
const inherited = [
  "PATH",
  "TMPDIR",
  "SSL_CERT_FILE",
  "SSL_CERT_DIR",
  "http_proxy",
  "https_proxy",
  "HTTPS_PROXY",
  "no_proxy",
  "NO_PROXY",
  "all_proxy",
  "ALL_PROXY"
]

/** Returns the environment. `home` is a folder without `.netrc`, from which curl would read credentials. */
export const gitEnvironment = (
  home: string,
  settings: ReadonlyArray<GitSetting>,
  outer: NodeJS.ProcessEnv = process.env
): Record<string, string> => {
  const environment: Record<string, string> = {
    HOME: home,
    LC_ALL: "C",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    GIT_LITERAL_PATHSPECS: "1",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_ALLOW_PROTOCOL: "http:https"
  }
  for (const name of inherited) {
    const value = outer[name]
    if (value !== undefined) environment[name] = value
  }
  const all = [...fixed, ...settings]
  environment["GIT_CONFIG_COUNT"] = String(all.length)
  all.forEach(([key, value], index) => {
    environment[`GIT_CONFIG_KEY_${index}`] = key
    environment[`GIT_CONFIG_VALUE_${index}`] = value
  })
  return environment
}
