/**
 * A Subversion repository for tests, in a folder of its own, and real servers for it: svnserve with passwords, and Apache with mod_dav_svn
 * over TLS. Servers run on free ports and end with this process, however it ends.
 */
import { execFileSync, spawn } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { freePort } from "./FreePort.ts"
import { apacheModules, provide } from "./Provide.ts"
import { readProgram } from "./RunProgram.ts"
import { waitUntil } from "./Wait.ts"

export const svnUser = "reviewer"
export const svnPassword = "p@ss word-7%"

/** Content of a file; null removes it. Properties by name; null removes one. */
export interface SvnEdit {
  readonly files?: Readonly<Record<string, string | Uint8Array | null>>
  /** Target by source: copied with history. `move` also removes the source. */
  readonly copy?: Readonly<Record<string, string>>
  readonly move?: Readonly<Record<string, string>>
  readonly properties?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly author?: string
}

const svn = (args: ReadonlyArray<string>, cwd: string): string =>
  readProgram("svn", ["--non-interactive", ...args], {
    cwd,
    environment: { ...process.env, LC_ALL: "C.UTF-8" }
  }).toString("utf8")

/** An `@` in a path is not a revision. */
const at = (path: string): string => (path.includes("@") ? `${path}@` : path)

export class SvnRepository implements Disposable {
  readonly folder: string
  readonly path: string
  readonly url: string
  readonly #work: string

  constructor(folders: ReadonlyArray<string> = ["trunk", "branches", "tags"]) {
    provide("subversion")
    this.folder = mkdtempSync(join(tmpdir(), "aicr-svn-"))
    this.path = join(this.folder, "repository")
    this.url = `file://${this.path}`
    this.#work = join(this.folder, "work")
    readProgram("svnadmin", ["create", this.path], { cwd: "/", environment: process.env })
    if (folders.length > 0)
      svn(["mkdir", "--quiet", "-m", "Layout", ...folders.map((name) => `${this.url}/${name}`)], "/")
    svn(["checkout", "--quiet", this.url, this.#work], "/")
  }

  /** Commits an edit of paths in the repository and returns its revision. */
  commit(message: string, { author, copy = {}, files = {}, move = {}, properties = {} }: SvnEdit): string {
    svn(["update", "--quiet", "--ignore-externals"], this.#work)
    for (const [source, target] of Object.entries(copy)) svn(["copy", "--quiet", at(source), at(target)], this.#work)
    for (const [source, target] of Object.entries(move)) svn(["move", "--quiet", at(source), at(target)], this.#work)
    for (const [path, content] of Object.entries(files)) {
      if (content === null) svn(["delete", "--quiet", "--force", at(path)], this.#work)
      else {
        mkdirSync(dirname(join(this.#work, path)), { recursive: true })
        writeFileSync(join(this.#work, path), content)
      }
    }
    svn(["add", "--quiet", "--force", "--no-ignore", "--no-auto-props", "."], this.#work)
    for (const [path, values] of Object.entries(properties))
      for (const [name, value] of Object.entries(values)) svn(["propset", "--quiet", name, value, at(path)], this.#work)
    svn(["commit", "--quiet", "-m", message, "--username", author ?? "ada"], this.#work)
    svn(["update", "--quiet", "--ignore-externals"], this.#work)
    return svn(["info", "--show-item", "revision"], this.#work).trim()
  }

  /** Adds many revisions by one command, each of which changes one existing file, and returns their numbers. */
  load(
    path: string,
    changes: ReadonlyArray<{ readonly author: string; readonly content: string }>,
    committed = new Date("2026-01-01T00:00:00Z")
  ): ReadonlyArray<string> {
    const first = Number(svn(["info", "--show-item", "revision", this.url], "/")) + 1
    const revisions = changes.map(({ author, content }, index) => {
      const properties = [
        ["svn:author", author],
        ["svn:log", `Change ${index}`],
        ["svn:date", committed.toISOString().replace("Z", "000Z")]
      ].map(([name = "", value = ""]) => `K ${name.length}\n${name}\nV ${value.length}\n${value}\n`)
      const text = `${properties.join("")}PROPS-END\n`
      const bytes = Buffer.byteLength(content)
      return [
        `Revision-number: ${first + index}\nProp-content-length: ${text.length}\nContent-length: ${text.length}\n\n${text}\n`,
        `Node-path: ${path}\nNode-kind: file\nNode-action: change\nText-content-length: ${bytes}\nContent-length: ${bytes}\n\n`,
        `${content}\n\n`
      ].join("")
    })
    execFileSync("svnadmin", ["load", "--quiet", this.path], {
      input: `SVN-fs-dump-format-version: 2\n\n${revisions.join("")}`
    })
    return changes.map((_, index) => String(first + index))
  }

  /** The part of `svn` output for a command on this repository. */
  svn(...args: ReadonlyArray<string>): string {
    return svn(args, this.#work)
  }

  /** Installs a hook of the repository. */
  hook(name: string, script: string): void {
    writeFileSync(join(this.path, "hooks", name), script, { mode: 0o755 })
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export interface SvnService extends AsyncDisposable {
  readonly url: string
}

/** Starts a program that ends with this process, and waits for its port. */
const serve = async (program: string, args: ReadonlyArray<string>, port: number, url: string): Promise<SvnService> => {
  // The shell ends the server when its input closes, which happens also when this process is killed.
  const keeper = `"$0" "$@" >&2 </dev/null & server=$!; read -r _; kill "$server"; wait "$server" 2>/dev/null`
  const child = spawn("sh", ["-c", keeper, program, ...args], { stdio: ["pipe", "ignore", "pipe"] })
  let log = ""
  child.stderr.on("data", (text) => (log += String(text)))
  await waitUntil(() => accepts(port), { describe: () => `${program} accepts connections:\n${log}` })
  return {
    url,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        child.once("exit", () => resolve())
        child.stdin.end("\n")
      })
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("error", () => resolve(false))
    socket.once("connect", () => {
      socket.destroy()
      resolve(true)
    })
  })

/** Starts svnserve, which anonymous clients may not read. */
export const startSvnserve = async ({ folder, path }: SvnRepository): Promise<SvnService> => {
  const port = await freePort()
  writeFileSync(
    join(path, "conf", "svnserve.conf"),
    `[general]\nanon-access = none\nauth-access = write\npassword-db = passwd\nrealm = tests\n`
  )
  writeFileSync(join(path, "conf", "passwd"), `[users]\n${svnUser} = ${svnPassword}\n`)
  const args = `--daemon --foreground --listen-host 127.0.0.1 --listen-port ${port} --root`.split(" ")
  return serve("svnserve", [...args, folder], port, `svn://127.0.0.1:${port}/repository`)
}

/** Apache over TLS with a certificate of an authority of its own, in `authority`. */
export const startApache = async ({
  folder,
  path
}: SvnRepository): Promise<SvnService & { readonly authority: string }> => {
  const apache = join(provide("apache"), "apache2")
  provide("modDavSvn")
  const port = await freePort()
  const home = mkdtempSync(join(folder, "apache-"))
  const certificate = join(home, "certificate.pem")
  const key = join(home, "key.pem")
  execFileSync(
    "openssl",
    [
      ..."req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost".split(
        " "
      ),
      "-keyout",
      key,
      "-out",
      certificate
    ],
    { stdio: "ignore" }
  )
  const hash = execFileSync("openssl", ["passwd", "-apr1", "-stdin"], { input: svnPassword, encoding: "utf8" }).trim()
  writeFileSync(join(home, "passwd"), `${svnUser}:${hash}\n`)
  const modules = [
    "mpm_event",
    "authn_core",
    "authn_file",
    "authz_core",
    "authz_user",
    "auth_basic",
    "dav",
    "ssl",
    "socache_shmcb"
  ]
  writeFileSync(
    join(home, "apache.conf"),
    `ServerRoot ${home}
PidFile ${home}/pid
Listen 127.0.0.1:${port}
ServerName localhost
ErrorLog ${home}/error.log
Mutex file:${home} default
User #${process.getuid?.() === 0 ? 33 : process.getuid?.()}
${modules.map((name) => `LoadModule ${name}_module ${apacheModules}/mod_${name}.so`).join("\n")}
LoadModule dav_svn_module ${apacheModules}/mod_dav_svn.so
SSLEngine on
SSLCertificateFile ${certificate}
SSLCertificateKeyFile ${key}
<Location /svn>
  DAV svn
  SVNPath ${path}
  AuthType Basic
  AuthName tests
  AuthUserFile ${home}/passwd
  Require valid-user
</Location>
`
  )
  // Apache leaves the rights of root.
  execFileSync("chmod", ["-R", "a+rwX", folder])
  const server = await serve(
    apache,
    ["-f", join(home, "apache.conf"), "-DFOREGROUND"],
    port,
    `https://localhost:${port}/svn`
  )
  return { ...server, authority: certificate, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}
