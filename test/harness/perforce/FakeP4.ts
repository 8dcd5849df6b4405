/**
 * A p4 client and its server in one function, over `DepotState`. It reproduces what is known of the output of real ones (JSON only with both
 * options, messages within the output, shelves as a bare key, encoded wildcards, missing files with exit code 0).
 */
import { createHash, randomBytes } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { toBytes } from "../../../src/vcs/perforce/RawText.ts"
import { readState, writeState } from "./DepotState.ts"
import type { ShelvedFile, StoredChange, StoredRevision } from "./DepotState.ts"

export interface FakeCall {
  readonly folder: string
  readonly argv: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  readonly stdin: string
}

export interface FakeReply {
  readonly stdout: Buffer
  readonly stderr: string
  readonly code: number
}

/** Ends the command with a code. */
class Exit extends Error {
  readonly code: number
  constructor(code: number) {
    super("exit")
    this.code = code
  }
}

/** Settings of the nearest file that P4CONFIG names, from PWD upwards. They take precedence over the environment. */
const readSettings = ({ P4CONFIG: name, PWD: start }: FakeCall["env"]): Readonly<Record<string, string>> => {
  if (name === undefined || start === undefined) return {}
  for (let at = start; at !== dirname(at); at = dirname(at)) {
    if (!existsSync(`${at}/${name}`)) continue
    const lines = readFileSync(`${at}/${name}`, "utf8").split("\n")
    return Object.fromEntries(
      lines.flatMap((line) => {
        const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? []
        return key === undefined || value === undefined ? [] : [[key, value]]
      })
    )
  }
  return {}
}

/** Undefined: the command never ends. */
export const callFakeP4 = ({ argv, env: environment, folder, stdin: input }: FakeCall): FakeReply | undefined => {
  const ported = argv[0] === "-p"
  const env: FakeCall["env"] = {
    ...environment,
    ...readSettings(environment),
    ...(ported ? { P4PORT: argv[1] ?? "" } : {})
  }
  const out: Array<Buffer> = []
  let errors = ""
  const state = readState(folder)
  const globals = { tagged: false, json: false, charset: "", files: undefined as ReadonlyArray<string> | undefined }
  const rest = [...argv]
  const stdin = (): string => input

  const write = (text: string) => void out.push(toBytes(text))
  const exit = (code: number): never => {
    throw new Exit(code)
  }
  const complain = (text: string) => void (errors += text)
  let failed = false

  const message = (data: string, generic: number, severity: number): void => {
    if (globals.json) write(`${JSON.stringify({ data: `${data}\n`, generic, severity })}\n`)
    else complain(`${data}\n`)
    if (severity >= 3) failed = true
  }
  const fail = (data: string, generic = 36): never => {
    message(data, generic, 3)
    throw new Exit(1)
  }

  type Value = string | undefined
  const emit = (record: Readonly<Record<string, Value>>): void => {
    const given = Object.entries(record).filter((entry): entry is [string, string] => entry[1] !== undefined)
    if (globals.json) {
      const sorted = given.toSorted(([a], [b]) => (a < b ? -1 : 1))
      // Bytes that are not UTF-8 are printed as they are.
      const line = JSON.stringify(Object.fromEntries(sorted))
      write(
        `${line.replace(/\\ud[c-f][0-9a-f]{2}/g, (code) => String.fromCharCode(Number.parseInt(code.slice(2), 16)))}\n`
      )
    } else write(`${given.map(([name, value]) => `... ${name}${value === "" ? "" : ` ${value}`}\n`).join("")}\n`)
  }

  while (rest[0]?.startsWith("-")) {
    const option = rest.shift()
    if (option === "-ztag") globals.tagged = true
    else if (option === "-Mj") globals.json = true
    else if (option === "-p") rest.shift()
    else if (option === "-C") globals.charset = rest.shift() ?? ""
    else if (option === "-x") {
      rest.shift()
      globals.files = stdin()
        .split("\n")
        .filter((line) => line !== "")
    } else if (option === "-V") {
      write("Perforce - The Fast Software Configuration Management System.\nRev. P4/FAKE/2025.2/1 (2025/10/01).\n")
      return { stdout: Buffer.concat(out), stderr: "", code: 0 }
    }
  }
  const command = rest.shift() ?? ""
  const options: Array<string> = []
  const args: Array<string> = []
  const valued = new Set(["-m", "-s", "-c", "-o", "-T", "-i", "-t", "-e", "-u"])
  while (rest.length > 0) {
    const one = rest.shift() ?? ""
    if (!one.startsWith("-")) args.push(one)
    else {
      options.push(one)
      const takes =
        valued.has(one) &&
        !(command === "describe" && one === "-s") &&
        !(command === "login") &&
        !(command === "annotate") &&
        !(["change", "depot", "client"].includes(command) && one === "-o")
      if (takes) options.push(rest.shift() ?? "")
    }
  }
  const has = (name: string): boolean => options.includes(name)
  const valueOf = (name: string): string | undefined => (has(name) ? options[options.indexOf(name) + 1] : undefined)
  args.push(...(globals.files ?? []))

  const port = env["P4PORT"] ?? ""
  const user = env["P4USER"] ?? ""
  const ticketFile = env["P4TICKETS"] ?? ""
  const trustFile = env["P4TRUST"] ?? ""
  const read = (path: string): string => (path !== "" && existsSync(path) ? readFileSync(path, "utf8") : "")

  const checkTrust = (): void => {
    if (!port.startsWith("ssl:") || state.fingerprint === undefined) return
    const trusted = read(trustFile).trim()
    if (trusted === state.fingerprint) return
    complain(
      trusted === ""
        ? `The authenticity of '127.0.0.1:1666' can't be established,\nthis may be your first attempt to connect to this P4PORT.\nThe fingerprint for the key sent to your client is\n${state.fingerprint}\nTo allow connection use the 'p4 trust' command.\n`
        : `******* WARNING P4PORT IDENTIFICATION HAS CHANGED! *******\nIt is possible that someone is intercepting your connection\nto the Perforce P4PORT '127.0.0.1:1666'\nThe fingerprint for the mismatched key sent to your client is\n${state.fingerprint}\n`
    )
    exit(1)
  }

  const isLoggedIn = (): boolean => {
    const ticket = env["P4PASSWD"] ?? read(ticketFile).trim().split(":").at(-1)
    return user === state.user && ticket !== undefined && state.tickets.includes(ticket)
  }

  const checkServer = (): void => {
    if (!/:\d+$/.test(port)) {
      complain("Perforce client error:\n\tConnect to server failed; check $P4PORT.\n")
      exit(1)
    }
    checkTrust()
    if (state.unicode && globals.charset !== "utf8") fail("Unicode server permits only unicode enabled clients.", 4)
    if (!state.unicode && globals.charset !== "") fail("Unicode clients require a unicode enabled server.", 4)
  }

  const digestOf = (content: string): string =>
    createHash("md5").update(Buffer.from(content, "base64")).digest("hex").toUpperCase()
  const bytesOf = (content: string): number => Buffer.from(content, "base64").length
  const isGone = ({ action }: StoredRevision): boolean => action === "delete" || action === "move/delete"

  interface Spec {
    readonly matches: (file: string) => boolean
    readonly pick: (revisions: ReadonlyArray<StoredRevision>) => StoredRevision | undefined
    readonly shelf: number | undefined
  }

  const escape = (text: string): string => text.replace(/[\\^$+?()[\]{}|.]/g, "\\$&")
  const same = (text: string): string => (state.insensitive ? text.toLowerCase() : text)

  const parseSpec = (text: string): Spec => {
    const at = text.search(/[@#]/)
    const path = at < 0 ? text : text.slice(0, at)
    const suffix = at < 0 ? "" : text.slice(at)
    const pattern = new RegExp(
      `^${same(path)
        .split("...")
        .map((part) => part.split("*").map(escape).join("[^/]*"))
        .join(".*")}$`
    )
    const newest = (list: ReadonlyArray<StoredRevision>) => list.at(-1)
    const pick = (revisions: ReadonlyArray<StoredRevision>): StoredRevision | undefined => {
      if (suffix === "" || suffix === "#head") return newest(revisions)
      if (/^#\d+$/.test(suffix)) return revisions.find(({ rev }) => rev === Number(suffix.slice(1)))
      const range = /^@(\d+),@?(\d+)$/.exec(suffix)
      if (range !== null)
        return newest(revisions.filter(({ change }) => change >= Number(range[1]) && change <= Number(range[2])))
      if (/^@=\d+$/.test(suffix)) return revisions.find(({ change }) => change === Number(suffix.slice(2)))
      if (/^@\d+$/.test(suffix)) return newest(revisions.filter(({ change }) => change <= Number(suffix.slice(1))))
      return fail(`Invalid changelist/client/label/date '${suffix}'.`, 1)
    }
    const shelf = /^@=(\d+)$/.exec(suffix)?.[1]
    return { matches: (file) => pattern.test(same(file)), pick, shelf: shelf === undefined ? undefined : Number(shelf) }
  }

  interface Hit {
    readonly depotFile: string
    readonly revision: StoredRevision
  }

  const find = (text: string): ReadonlyArray<Hit> => {
    const spec = parseSpec(text)
    return Object.entries(state.files)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([depotFile, revisions]) => {
        const revision = spec.matches(depotFile) ? spec.pick(revisions) : undefined
        return revision === undefined ? [] : [{ depotFile, revision }]
      })
  }
  const nothing = (text: string): void => message(`${text} - no such file(s).`, 17, 2)

  const commands: Readonly<Record<string, () => void>> = {
    info: () =>
      emit({
        caseHandling: state.insensitive ? "insensitive" : "sensitive",
        clientName: env["P4CLIENT"] ?? "host",
        clientRoot: state.clients[env["P4CLIENT"] ?? ""]?.root,
        serverAddress: "internal:1666",
        ServerID: "fake-server",
        unicode: state.unicode ? "enabled" : undefined,
        userName: user
      }),
    trust: () => {
      const fingerprint = valueOf("-i")
      if (fingerprint === undefined) fail("Usage: trust [ -l -y -n -d -f -r -i <fingerprint> ]")
      writeFileSync(trustFile, fingerprint ?? "", { mode: 0o600 })
      write(`Added trust for P4PORT '${port}' (127.0.0.1:1666)\n`)
    },
    login: () => {
      if (has("-s"))
        return isLoggedIn()
          ? write(`User ${user} ticket expires in 11 hours 59 minutes.\n`)
          : fail("Perforce password (P4PASSWD) invalid or unset.")
      write("Enter password: \n")
      if (user !== state.user || stdin().replace(/\n$/, "") !== state.password) return fail("Password invalid.")
      const ticket = randomBytes(16).toString("hex").toUpperCase()
      writeState(folder, { ...state, tickets: [...state.tickets, ticket] })
      writeFileSync(ticketFile, `internal:1666=${user}:${ticket}\n`, { mode: 0o600 })
      write(`User ${user} logged in.\n`)
    },
    depots: () => {
      for (const { name, type } of state.depots)
        if (valueOf("-t") === undefined || valueOf("-t") === type)
          emit({ name, time: "1700000000", type, map: `${name}/...`, desc: "Created by tests.\n" })
    },
    depot: () => {
      const depot = state.depots.find(({ name }) => name === args[0])
      emit({
        Depot: args[0],
        Type: depot?.type ?? "local",
        StreamDepth: depot?.type === "stream" ? `//${depot.name}/${depot.depth}` : undefined
      })
    },
    changes: () => {
      const limit = Number(valueOf("-m") ?? Number.POSITIVE_INFINITY)
      const status = valueOf("-s")
      // The limit is of each argument, and a change of several is listed for each.
      for (const spec of args.length === 0 ? ["//..."] : args) {
        const at = spec.search(/[@#]/)
        const path = at < 0 ? spec : spec.slice(0, at)
        const [, from, to] = /^@(\d+),(?:@?(\d+)|#head)$/.exec(at < 0 ? "" : spec.slice(at)) ?? []
        const upTo = /^@(\d+)$/.exec(at < 0 ? "" : spec.slice(at))?.[1]
        if (at >= 0 && from === undefined && upTo === undefined)
          return fail(`Invalid changelist/client/label/date '${spec.slice(at)}'.`, 1)
        const depot = path.split("/")[2] ?? ""
        if (depot !== "..." && !state.depots.some(({ name }) => name === depot))
          return fail(`${path} - must refer to client '${env["P4CLIENT"] ?? "host"}'.`)
        const { matches } = parseSpec(path)
        const touching = new Set(
          Object.entries(state.files).flatMap(([file, revisions]) =>
            matches(file) ? revisions.map(({ change }) => change) : []
          )
        )
        const isListed = (one: StoredChange) =>
          status === "shelved"
            ? one.shelf.some(({ depotFile }) => matches(depotFile))
            : (status === undefined || one.status === status) && touching.has(one.change)
        const found = state.changes
          .filter(isListed)
          .filter(
            ({ change }) => change >= Number(from ?? 0) && change <= Number(to ?? upTo ?? Number.POSITIVE_INFINITY)
          )
          .toSorted((a, b) => b.change - a.change)
          .slice(0, limit)
        for (const one of found)
          emit({
            change: String(one.change),
            time: String(one.time),
            user: one.user,
            client: one.client,
            status: one.status,
            changeType: "public",
            path: "//...",
            desc: has("-l") ? one.desc : one.desc.slice(0, 31)
          })
      }
    },
    describe: () => {
      const change = state.changes.find((one) => String(has("-O") ? one.oldChange : one.change) === args[0])
      if (change === undefined) return message(`${args[0]} - no such changelist.`, 17, 2)
      const files = has("-S")
        ? change.shelf.map(toShelved)
        : change.status === "submitted"
          ? submittedFiles(change)
          : []
      emit({
        change: String(change.change),
        user: change.user,
        client: change.client,
        time: String(change.time),
        desc: change.desc,
        status: change.status,
        changeType: "public",
        path: "//...",
        // Whether a server prints this without the option is not known.
        ...(change.shelf.length > 0 && has("-S") ? { shelved: "" } : {}),
        ...Object.assign(
          {},
          ...files.map((file, index) =>
            Object.fromEntries(Object.entries(file).map(([name, value]) => [`${name}${index}`, value]))
          )
        )
      })
    },
    files: () => {
      for (const spec of args) {
        const found = find(spec)
        if (found.length === 0) nothing(spec)
        for (const {
          depotFile,
          revision: { action, change, rev, type }
        } of found)
          emit({ depotFile, rev: String(rev), change: String(change), action, type, time: "1700000000" })
      }
    },
    fstat: () => {
      if (has("-Ro")) return openedFiles()
      for (const spec of args) {
        const found = find(spec)
        if (found.length === 0) nothing(spec)
        for (const { depotFile, revision } of found) {
          const gone = isGone(revision)
          const record: Record<string, Value> = {
            depotFile,
            headAction: revision.action,
            headType: revision.type,
            headRev: String(revision.rev),
            headChange: String(revision.change),
            ...(gone || !has("-Ol")
              ? {}
              : { fileSize: String(revision.bytes ?? bytesOf(revision.content)), digest: digestOf(revision.content) })
          }
          const wanted = valueOf("-T")?.split(",")
          emit(
            wanted === undefined
              ? record
              : Object.fromEntries(Object.entries(record).filter(([name]) => wanted.includes(name)))
          )
        }
      }
    },
    filelog: () => {
      for (const spec of args)
        for (const {
          depotFile,
          revision: { action, change, integration, rev, type }
        } of find(spec)) {
          const from = integration
          if (globals.json)
            emit({
              depotFile,
              rev0: String(rev),
              change0: String(change),
              action0: action,
              type0: type,
              "how0,0": from?.how,
              "file0,0": from?.file,
              "srev0,0": from === undefined ? undefined : "#none",
              "erev0,0": from === undefined ? undefined : `#${from.erev}`
            })
          else
            emit({
              depotFile,
              rev0: String(rev),
              change0: String(change),
              action0: action,
              "how0,0": from?.how,
              "file0,0": from?.file,
              "erev0,0": from === undefined ? undefined : `#${from.erev}`
            })
        }
    },
    annotate: () => {
      for (const spec of args) {
        const [hit] = find(spec)
        if (hit === undefined) return nothing(spec)
        const history = (state.files[hit.depotFile] ?? []).filter(({ rev }) => rev <= hit.revision.rev)
        emit({
          depotFile: hit.depotFile,
          rev: String(hit.revision.rev),
          change: String(hit.revision.change),
          action: hit.revision.action
        })
        let lines: ReadonlyArray<readonly [text: string, change: number]> = []
        for (const { change, content } of history) {
          const before = new Map(lines)
          lines = Buffer.from(content, "base64")
            .toString("utf8")
            .split(/(?<=\n)/)
            .map((text) => [text, before.get(text) ?? change])
        }
        for (const [data, change] of lines) {
          const by = state.changes.find((one) => one.change === change)
          emit({
            data,
            lower: String(change),
            upper: String(hit.revision.change),
            user: by?.user,
            time: "2025/09/24 12:59:19"
          })
        }
      }
    },
    print: () => {
      if (has("-k") && state.newClient) fail("Invalid option: -k.", 33)
      if (has("-K") && !state.newClient) fail("Invalid option: -K.", 33)
      const target = valueOf("-o") ?? ""
      const allowed = (env["P4CLIENTPATH"] ?? "").split(";")
      for (const spec of args) {
        const shelf = /^(.*)@=(\d+)$/.exec(spec)
        const shelved = state.changes
          .find((one) => String(one.change) === shelf?.[2])
          ?.shelf.find(({ depotFile }) => depotFile === shelf?.[1])
        const found =
          shelved === undefined
            ? find(spec).filter(({ revision }) => !isGone(revision))
            : [{ depotFile: shelved.depotFile, revision: { ...shelved, rev: 0, change: 0 } }]
        // The client reports it, and still ends with 0.
        if (found.length === 0) complain(`${spec} - no such file(s).\n`)
        for (const { depotFile, revision } of found) {
          if (state.lost.includes(depotFile)) fail(`Librarian checkout ${depotFile.slice(2)},d failed.`, 39)
          const root = spec.replace(/\.\.\..*$/, "")
          const path = target.endsWith("...")
            ? `${target.slice(0, -3)}${decodeURIComponent(depotFile.slice(root.length))}`
            : target
          if (!allowed.some((one) => path.startsWith(`${one}/`))) fail(`${path} is outside of P4CLIENTPATH.`)
          mkdirSync(dirname(path), { recursive: true })
          const content = Buffer.from(revision.content, "base64")
          if (revision.type.startsWith("symlink")) symlinkSync(content.toString("utf8").trim(), path)
          else if (has("-k") || has("-K")) writeFileSync(path, content, { mode: 0o444 })
          else
            writeFileSync(
              path,
              content.toString("latin1").replaceAll("$Id$", `$Id: ${depotFile}#${revision.rev} $`),
              "latin1"
            )
        }
      }
    },
    change: () => {
      const change = state.changes.find((one) => String(one.change) === args[0])
      if (change === undefined) return fail(`Change ${args[0]} unknown.`, 17)
      emit({
        Change: String(change.change),
        Client: change.client,
        User: change.user,
        Status: change.status,
        Description: change.desc
      })
    },
    client: () => {
      const client = state.clients[args[0] ?? env["P4CLIENT"] ?? ""]
      const views = Object.entries(client?.view ?? {}).map(([depot, local], index) => [
        `View${index}`,
        `${depot} ${local}`
      ])
      emit({ Client: args[0] ?? env["P4CLIENT"], Root: client?.root, ...Object.fromEntries(views) })
    },
    where: () => {
      if (own === undefined) return fail(`Client '${env["P4CLIENT"]}' unknown - use 'client' command to create it.`)
      for (const spec of args) {
        const path = spec.replace(/\/\.\.\.$/, "")
        const found = mappings().filter(({ local }) => isIn(path, local) || isIn(local, path))
        if (found.length === 0) message(`${spec} - file(s) not in client view.`, 17, 2)
        for (const { depot, local } of found) {
          const below = isIn(path, local) ? path.slice(local.length) : ""
          const at = isIn(path, local) ? path : local
          emit({
            depotFile: `${depot}${below}/...`,
            clientFile: `//${env["P4CLIENT"]}${at.slice(own.root.length)}/...`,
            path: `${decode(at)}/...`
          })
        }
      }
    },
    have: () => {
      for (const spec of args) {
        let count = 0
        for (const { file, path, revision } of synced())
          if (matchesLocal(spec, path)) {
            count++
            emit({
              depotFile: file,
              clientFile: `//${env["P4CLIENT"]}/${file}`,
              path,
              haveRev: String(revision.rev),
              syncTime: "1700000000"
            })
          }
        if (count === 0) message(`${spec} - file(s) not on client.`, 17, 2)
      }
    },
    opened: () => {
      for (const one of state.opened)
        if (one.client === env["P4CLIENT"])
          emit({
            depotFile: one.depotFile,
            clientFile: `//${one.client}/x`,
            rev: String(one.rev),
            haveRev: one.action === "add" ? "none" : String(one.rev),
            action: one.action,
            change: "default",
            type: one.type,
            user,
            client: one.client
          })
    }
  }

  const own = state.clients[env["P4CLIENT"] ?? ""]
  const decode = (path: string) =>
    path.replace(/%(40|23|25|2A)/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  const encode = (path: string) => path.replace(/[@#%*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
  const isIn = (path: string, parent: string) => path === parent || path.startsWith(`${parent}/`)
  const mappings = () =>
    Object.entries(own?.view ?? {}).map(([depot, local]) => ({
      depot: depot.replace(/\/\.\.\.$/, ""),
      local: `${encode(own?.root ?? "")}${local.replace(/^\/\/[^/]+/, "").replace(/\/\.\.\.$/, "")}`
    }))
  const toLocal = (file: string): string | undefined => {
    const mapping = mappings().find(({ depot }) => file.startsWith(`${depot}/`))
    return mapping === undefined ? undefined : decode(`${mapping.local}${file.slice(mapping.depot.length)}`)
  }
  const matchesLocal = (spec: string, path: string): boolean => {
    const parent = decode(spec.replace(/\/(?:\.\.\.|\*)$/, ""))
    return spec.endsWith("/*") ? dirname(path) === parent : isIn(path, parent)
  }
  const synced = () =>
    Object.entries(state.files).flatMap(([file, revisions]) => {
      const path = toLocal(file)
      const revision = revisions.findLast(({ change }) => change <= (own?.synced ?? Number.POSITIVE_INFINITY))
      return path === undefined || revision === undefined || isGone(revision) ? [] : [{ file, path, revision }]
    })
  const openedFiles = () => {
    const wanted = valueOf("-T")?.split(",")
    for (const { action, client, depotFile, rev, type } of state.opened) {
      const path = toLocal(depotFile)
      if (client !== env["P4CLIENT"] || path === undefined || !args.some((spec) => matchesLocal(spec, path))) continue
      const isNew = action === "add" || action === "move/add"
      const record: Record<string, Value> = {
        depotFile,
        clientFile: path,
        action,
        type,
        change: "default",
        ...(isNew ? {} : { haveRev: String(rev) })
      }
      emit(Object.fromEntries(Object.entries(record).filter(([name]) => wanted?.includes(name) !== false)))
    }
  }

  const submittedFiles = ({ change }: StoredChange): ReadonlyArray<Record<string, string>> =>
    Object.entries(state.files)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .flatMap(([depotFile, revisions]) =>
        revisions
          .filter((one) => one.change === change)
          .map((one): Record<string, string> => ({
            depotFile,
            action: one.action,
            type: one.type,
            rev: String(one.rev),
            ...(isGone(one) ? {} : { fileSize: String(bytesOf(one.content)), digest: digestOf(one.content) })
          }))
      )
  const toShelved = ({ action, content, depotFile, rev, type }: ShelvedFile): Record<string, string> => ({
    depotFile,
    action,
    type,
    rev: rev === undefined ? "none" : String(rev),
    ...(action === "delete" ? {} : { fileSize: String(bytesOf(content)), digest: digestOf(content) })
  })

  const disturbed = state.disturb.find((one) => one.command === command)?.how
  const run = (): void => {
    if (globals.json && state.oldClient) {
      complain("Perforce client error:\n\tInvalid option: -Mj.\n")
      exit(1)
    }
    if (command === "trust") return commands["trust"]?.()
    checkServer()
    if (disturbed === "garbage") return void write("<html>not p4</html>\n")
    if (disturbed === "collapse" && globals.json)
      return void write(`${JSON.stringify({ data: "//depot/a.c#1 - edit", level: 0 })}\n`)
    if (disturbed === "refused")
      return fail("Request too large for server memory (try later?). See 'p4 help maxresults'.", 35)
    if (command !== "login" && command !== "info" && !isLoggedIn()) {
      fail(
        env["P4PASSWD"] === undefined && read(ticketFile) !== ""
          ? "Your session has expired, please login again."
          : "Perforce password (P4PASSWD) invalid or unset."
      )
    }
    if (disturbed === "huge") {
      // One record without an end, as a branch of a large depot.
      write('{"action0":"branch"')
      for (let at = 0; at < 200_000; at++) write(`,"depotFile${at}":"//depot/main/big/${at}.c"`)
      return void write(',"change":"1","status":"submitted","user":"ada","desc":"Big"}\n')
    }
    if (disturbed === "outside") {
      const path = `${own?.root}/../outside.c`
      return emit({
        depotFile: "//Ace/main/same.c",
        clientFile: path,
        path,
        haveRev: "1",
        action: "edit",
        type: "text"
      })
    }
    const known = commands[command]
    if (known === undefined) fail(`Unknown command.  Try 'p4 help' for info.`, 33)
    known?.()
  }
  let code = 0
  try {
    if (disturbed === "hang") return undefined
    run()
  } catch (cause) {
    if (!(cause instanceof Exit)) throw cause
    code = cause.code
  }
  return { stdout: Buffer.concat(out), stderr: errors, code: failed ? 1 : code }
}
