--[[
  Entries that cannot be read, because something else than the service wrote them: each ends as dead with its reason, wherever it was
  indexed, and holds up nothing that comes after it. What can be read of it is kept. Where it waited or ran is searched for, since its
  record does not say; that takes time that grows with the queue, once for each such entry.
]]

-- The values of a record that can be read, from the first on.
local function remains(id)
  local text, values, at = packed(entries, id), {}, 3
  if type(text) ~= 'string' then return values end
  for i = 1, PLACE do
    local readable, after, value = pcall(cmsgpack.unpack_one, text, at)
    if not readable then return values end
    values[i] = value
    if after < 0 then return values end
    at = after
  end
  return values
end
local function kept(value, kind, otherwise)
  if type(value) == kind then return value end
  return otherwise
end

-- Takes it from where it waits or is out in a workspace. Returns `waiting`, `out` or nil, and of a due one its target.
local function evict(id, ws)
  local readable, space = pcall(workspace, ws)
  if not readable then return nil end
  local was, target = nil, nil
  if remove(space[W_OUT], id) then was = 'out' end
  if call('ZSCORE', P .. 'later:' .. ws, id) then
    rank('later:' .. ws, id, false)
    space[W_LATER] = space[W_LATER] - 1
    was = 'waiting'
  end
  local from = space[W_DUE] > 0 and '0'
  while from do
    local page = call('ZSCAN', P .. 'due:' .. ws, from, 'MATCH', '*\0' .. id .. '\0*', 'COUNT', 10000)
    for at = 1, #page[2], 2 do
      local where = page[2][at]
      rank('due:' .. ws, where, false)
      space[W_DUE] = space[W_DUE] - 1
      was, target = 'waiting', targetAt(where, laneEnd(where))
    end
    from = page[1] ~= '0' and page[1]
  end
  if was then
    seen[ws] = nil
    keepWorkspace(ws, space)
  end
  return was, target
end

-- Which workspace it was active in, and as what.
local function evictAnywhere(id, guess)
  if guess ~= '' then
    local was, target = evict(id, guess)
    if was then return guess, was, target end
  end
  for _, ws in ipairs(call('HKEYS', workspaces.key)) do
    if ws ~= '' and ws ~= guess then
      local was, target = evict(id, ws)
      if was then return ws, was, target end
    end
  end
end

-- The target that names it as active.
local function targetNaming(id, guess)
  local function names(ids) return ids and string.find(ids, id, 1, true) end
  if guess and names(get(targets, guess)) then return guess end
  local from = '0'
  repeat
    local page = call('HSCAN', targets.key, from, 'COUNT', 1000)
    for at = 2, #page[2], 2 do if names(page[2][at]) then return page[2][at - 1] end end
    from = page[1]
  until from == '0'
end

-- What it was counted as, or nil when nobody knows.
local function countedAs(status, was, hasEnded)
  if was == 'waiting' then return 'waiting' end
  if was == 'out' then return OUT[status] and status end
  return hasEnded and COUNTED[status] and not ACTIVE[status] and status
end

local function createdAt(id) return tonumber(string.sub(id, 1, 8) .. string.sub(id, 10, 13), 16) or 0 end

local function reasonWhy(why)
  local text = string.gsub(tostring(why), '^[%w_@]+:%d+: ', '')
  return 'quarantined: what the queue holds of it cannot be read (' .. string.sub(text, 1, 200) .. ')'
end

-- Details that everybody can read.
local function blank(id, ws, repo)
  local readable, old = pcall(look, details, id)
  local events = readable and old and kept(old[EVENTS], 'string', '') or ''
  local row = '["manual","",null,' .. cjson.encode(ws) .. ',' .. cjson.encode(repo) .. ',null,null,null,"manual"]'
  keep(details, id, { '', false, false, events, row })
end

-- `areDetailsBad` when somebody could not read these, which look well here.
function quarantine(id, why, areDetailsBad)
  local old = remains(id)
  local ended = call('ZSCORE', P .. 'ended', id)
  local ws, repo = kept(old[WS], 'string', ''), kept(old[REPO], 'string', '')
  local target = kept(old[TARGET], 'string', nil)
  local was
  if not ended then
    local where, found
    where, was, found = evictAnywhere(id, ws)
    ws = where or ws
    target = found or target
    target = targetNaming(id, target) or target
  end
  local admitted = kept(old[ADMITTED], 'number', tonumber(ended or nil) or createdAt(id))
  local e = {
    id, 'dead', target or '', repo, kept(old[PRIO], 'number', 0), admitted, kept(old[DUE], 'number', admitted), ws, false,
    reasonWhy(why), kept(old[ATTEMPTS], 'number', 0), kept(old[LOSSES], 'number', 0), kept(old[TOKEN], 'number', 0),
    false, false, false, false
  }
  local named = target and get(targets, target)
  if named and string.find(named, id, 1, true) then deactivate(e) end
  local counted = countedAs(old[STATUS], was, ended)
  if counted then add(counted, -1) else uncounted = true end
  add('dead', 1)
  rank('expiring', id, false)
  rank('ended', id, admitted)
  rank('ids', id, 0)
  save(e)
  if areDetailsBad or not pcall(readDetail, id) then blank(id, ws, repo) end
  quarantined[#quarantined + 1] = id
  return e
end

-- Counts all entries, and quarantines on the way what cannot be read.
function recount()
  local many, from = { 0, 0, 0, 0, 0, 0, 0, 0 }, 0
  repeat
    local ids = call('ZRANGE', P .. 'ids', from, from + MOST - 1)
    fetch(entries, ids)
    for _, id in ipairs(ids) do
      local at = COUNTED[indexed(id)[STATUS]]
      many[at] = many[at] + 1
    end
    flush()
    entries.known, entries.tables = {}, {}
    from = from + MOST
  until #ids < MOST
  put(workspaces, '', pack(many))
  added, uncounted = {}, false
  flush()
end
