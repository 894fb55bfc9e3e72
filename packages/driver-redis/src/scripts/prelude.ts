/**
 * What every script begins with: names for its keys, and how the state of a job is read and written.
 *
 * The keys, after the six of the prefix: of each queue `levels` and `bell`, then of each of its levels `ready`, `claims` and
 * `delayed`. The arguments begin with until when the call is wanted, by the server's clock, and with what says how many
 * queues and levels there are (session.ts, keys.ts). The times of jobs have nothing to do with that clock: they are whole
 * seconds of the driver's, and come in as arguments.
 *
 * - `id`: the counter that ids come from. `queues`: the queues that hold a job.
 * - `levels:<queue>`: the priorities of its jobs. `bell:<queue>`: has a member while a push has woken nobody yet.
 * - `ready:<level>`: a stream of the jobs that were found due, claimed ones included, with one group, whose cursor stands
 *   behind the last that was claimed. An entry is a whole job, or just its `id` once the job has been moved.
 * - `claims:<level>`: ids by deadline. `delayed:<level>`: ids by due time.
 * - `jobs`: of each job that was claimed, delayed or moved, at `<id>` its state, at `<id>:text` what it was pushed as (in
 *   place of its entry's text), at `<id>:error` its last error.
 * - `unique`: of each unique key the job that holds it and where that is.
 * - `failed`: ids by the time they failed. `failed:jobs`: of each `<id>:queue`, `:name`, `:payload`, `:attempts`, `:error`.
 *
 * A script cannot be rolled back, so all of them read and check first and write then; what takes a job out of sight comes
 * last. No text of a job has a tab in it, but for its payload and its error.
 */
export const PRELUDE = `
local ID, JOBS, UNIQUE, QUEUES, FAILED, FAILED_JOBS = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5], KEYS[6]
local GROUP, CONSUMER = 'q', 'worker'
local LARGEST_ID = 9007199254740991
local call = redis.call

local function serverMs()
  local time = call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

if ARGV[1] ~= '' and serverMs() > tonumber(ARGV[1]) then
  return redis.error_reply('LATE nobody waits for this call any more')
end

local queues, queueNamed, key, arg = {}, {}, 7, 3
for n = 1, tonumber(ARGV[2]) do
  local queue = { name = ARGV[arg], levels = KEYS[key], bell = KEYS[key + 1], known = {} }
  local first = arg + 2
  key, arg = key + 2, first + tonumber(ARGV[arg + 1])
  for at = first, arg - 1 do
    queue.known[ARGV[at]] =
      { queue = queue, priority = ARGV[at], ready = KEYS[key], claims = KEYS[key + 1], delayed = KEYS[key + 2] }
    key = key + 3
  end
  queue.only = queue.known[ARGV[first]]
  queues[n], queueNamed[queue.name] = queue, queue
end

-- The script's own arguments, the first as word(1).
local function word(n)
  return ARGV[arg + n - 1]
end

-- tostring would give 14 digits.
local function whole(number)
  return string.format('%.0f', number)
end

-- Out of memory, Redis refuses a script its first write, if that could need more; not what follows a write that frees.
-- Completing jobs is what makes room, so all but a push begin with one.
local function insist()
  call('HDEL', JOBS, '')
end

-- The first of so many new ids; nil: a JavaScript number could not hold them.
local function takeIds(count, now)
  local last = call('GET', ID)
  -- Where the counter alone was lost, ids must not begin anew: they would be those of jobs that are there.
  if not last and call('EXISTS', QUEUES, JOBS, FAILED) > 0 then
    last = whole(now * 1000000)
    call('SET', ID, last)
  end
  if tonumber(last or 0) + count > LARGEST_ID then return nil end
  return call('INCRBY', ID, whole(count)) - count + 1
end

local STATE = '^(%d+)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)$'
local function readState(id)
  local attempts, entry, due, unique, worker = string.match(call('HGET', JOBS, id) or '', STATE)
  if not attempts then return nil end
  return { attempts = attempts, entry = entry, due = due, unique = unique, worker = worker }
end

local function writeState(id, state)
  local fields = { state.attempts, state.entry, state.due, state.unique, state.worker }
  call('HSET', JOBS, id, table.concat(fields, '\\t'))
end

local function pairsIn(list)
  local fields = {}
  for n = 1, #list, 2 do fields[list[n]] = list[n + 1] end
  return fields
end

-- What was pushed, from an entry that is a whole job.
local function jobOf(fields)
  return { name = fields.name or '', payload = fields.payload, unique = fields.unique_key or '',
    max = string.match(fields.max_attempts or '', '^%d+$') or '3',
    created = string.match(fields.created_at or '', '^%d+$') or '0' }
end

local TEXT = '^([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t([^\\t]*)\\t(.*)$'
local function packText(level, job)
  return table.concat({ level.queue.name, level.priority, job.name, job.max, job.created, job.payload }, '\\t')
end

-- What was pushed, wherever it is; nil where somebody has deleted it.
local function readJob(level, id, entry)
  local queue, priority, name, max, created, payload = string.match(call('HGET', JOBS, id .. ':text') or '', TEXT)
  if queue then return { name = name, payload = payload, max = max, created = created, isMoved = true } end
  local found = entry ~= '' and call('XRANGE', level.ready, entry, entry)[1]
  local fields = found and pairsIn(found[2])
  return fields and fields.payload and jobOf(fields) or nil
end

-- The state of a job under exactly this claim; nil: it is no longer the caller's.
local function heldState(level, id, attempts, entry)
  local state = readState(id)
  if not state or state.attempts ~= attempts or state.entry ~= entry then return nil end
  return call('ZSCORE', level.claims, id) and state or nil
end

-- The job is no longer in the queue, and its unique key is free.
local function drop(level, id, state)
  if state.unique ~= '' then
    local holder = string.match(call('HGET', UNIQUE, state.unique) or '', '^%d+')
    if holder == id then call('HDEL', UNIQUE, state.unique) end
  end
  call('HDEL', JOBS, id, id .. ':text', id .. ':error')
  if state.entry ~= '' then call('XDEL', level.ready, state.entry) end
  call('ZREM', level.claims, id)
end

-- Nothing is kept of a level without jobs, nor of a queue without levels.
local function retire(level)
  if call('XLEN', level.ready) > 0 then return end
  call('DEL', level.ready)
  if call('EXISTS', level.delayed, level.claims) > 0 then return end
  call('ZREM', level.queue.levels, level.priority)
  if call('EXISTS', level.queue.levels) == 1 then return end
  call('SREM', QUEUES, level.queue.name)
  call('DEL', level.queue.bell)
end

local function register(level)
  call('ZADD', level.queue.levels, level.priority, level.priority)
  call('SADD', QUEUES, level.queue.name)
end

local function ring(queue)
  call('ZADD', queue.bell, 0, 'push')
end
`;
