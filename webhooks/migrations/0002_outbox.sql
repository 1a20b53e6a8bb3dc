-- The outbox: what happens to people and memories becomes rows of webhooks_delivery in the same
-- transaction, by whatever way it happens. Nothing is written for an app without an endpoint that
-- wants it. Conditions stand in WHEN where they can, so that the work of jobs (importance, vectors,
-- counts) calls nothing.

CREATE FUNCTION webhooks_note(whose bigint, what text, about uuid, more jsonb DEFAULT '{}')
RETURNS void LANGUAGE sql AS $$
    INSERT INTO webhooks_delivery (id, endpoint_id, end_user_id, type, subject, transaction, data,
        state, attempts, next_at, error, created_at)
    SELECT gen_random_uuid(), e.id, whose, what, about, pg_current_xact_id()::text::bigint,
        jsonb_build_object('user', u.external_id, 'id', about) || more,
        'pending', 0, now(), '', now()
    FROM webhooks_endpoint e JOIN accounts_enduser u ON u.app_id = e.app_id
    WHERE u.id = whose AND e.disabled_at IS NULL AND (e.types = '{}' OR what = ANY (e.types))
    ON CONFLICT DO NOTHING
$$;

CREATE FUNCTION webhooks_contact() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM webhooks_note(NEW.end_user_id, 'contact.created', NEW.id);
    ELSIF NEW.merged_into_id IS NOT DISTINCT FROM OLD.merged_into_id THEN
        PERFORM webhooks_note(NEW.end_user_id, 'contact.updated', NEW.id);
    ELSIF NEW.merged_into_id IS NULL THEN
        PERFORM webhooks_note(NEW.end_user_id, 'contact.unmerged', NEW.id,
            jsonb_build_object('from', OLD.merged_into_id));
    ELSE
        PERFORM webhooks_note(NEW.end_user_id, 'contact.merged', NEW.id,
            jsonb_build_object('into', NEW.merged_into_id));
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_contact_made AFTER INSERT ON contacts_contact
    FOR EACH ROW EXECUTE FUNCTION webhooks_contact();
CREATE TRIGGER webhooks_contact_changed AFTER UPDATE ON contacts_contact FOR EACH ROW
    WHEN ((OLD.name, OLD.aliases, OLD.relationship, OLD.gender, OLD.attributes, OLD.personality,
           OLD.timeline, OLD.archived_at, OLD.merged_into_id)
        IS DISTINCT FROM
          (NEW.name, NEW.aliases, NEW.relationship, NEW.gender, NEW.attributes, NEW.personality,
           NEW.timeline, NEW.archived_at, NEW.merged_into_id))
    EXECUTE FUNCTION webhooks_contact();

-- A suggestion is its pair, since its id is a number of the database's.
CREATE FUNCTION webhooks_suggestion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM webhooks_note(NEW.end_user_id, 'suggestion.created', NEW.first_id,
        jsonb_build_object('id', NEW.id, 'contacts', ARRAY[NEW.first_id, NEW.second_id]));
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_suggestion_made AFTER INSERT ON contacts_suggestion FOR EACH ROW
    WHEN (NEW.state = 'open') EXECUTE FUNCTION webhooks_suggestion();

CREATE FUNCTION webhooks_memory() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        PERFORM webhooks_note(NEW.end_user_id, 'memory.created', NEW.id);
    ELSIF NEW.status = 'outdated' AND OLD.status <> 'outdated' THEN
        PERFORM webhooks_note(NEW.end_user_id, 'memory.outdated', NEW.id);
    ELSE
        PERFORM webhooks_note(NEW.end_user_id, 'memory.updated', NEW.id);
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_memory_made AFTER INSERT ON memories_memory FOR EACH ROW
    WHEN (NEW.kind = 'fact') EXECUTE FUNCTION webhooks_memory();
CREATE TRIGGER webhooks_memory_changed AFTER UPDATE ON memories_memory FOR EACH ROW
    WHEN (NEW.kind = 'fact' AND (OLD.content, OLD.status, OLD.facts)
        IS DISTINCT FROM (NEW.content, NEW.status, NEW.facts))
    EXECUTE FUNCTION webhooks_memory();

-- What speaks of a row that is gone goes too, sent or not; then it is told that a memory is gone.
CREATE FUNCTION webhooks_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks_delivery d USING gone
    WHERE d.end_user_id = gone.end_user_id AND d.type <> 'memory.forgotten'
        AND strpos(d.data::text, gone.id::text) > 0;
    IF TG_TABLE_NAME = 'memories_memory' THEN
        PERFORM webhooks_note(gone.end_user_id, 'memory.forgotten', gone.id) FROM gone
        WHERE gone.kind = 'fact';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_contacts_gone AFTER DELETE ON contacts_contact
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION webhooks_gone();
CREATE TRIGGER webhooks_memories_gone AFTER DELETE ON memories_memory
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION webhooks_gone();

CREATE FUNCTION webhooks_user_gone() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM webhooks_delivery WHERE end_user_id = OLD.id;
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_user_gone AFTER DELETE ON accounts_enduser
    FOR EACH ROW EXECUTE FUNCTION webhooks_user_gone();

CREATE FUNCTION webhooks_erasure() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM webhooks_note(NEW.end_user_id,
        CASE NEW.state WHEN 'pending' THEN 'forgetting.requested' ELSE 'forgetting.erased' END,
        NEW.id);
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_erasure_made AFTER INSERT ON memories_erasure FOR EACH ROW
    WHEN (NEW.state IN ('pending', 'erased')) EXECUTE FUNCTION webhooks_erasure();
CREATE TRIGGER webhooks_erasure_done AFTER UPDATE ON memories_erasure FOR EACH ROW
    WHEN (NEW.state = 'erased' AND OLD.state <> 'erased') EXECUTE FUNCTION webhooks_erasure();

-- Everything that came is read, and no batch is under way any more.
CREATE FUNCTION webhooks_processed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM webhooks_note(NEW.end_user_id, 'user.processed', gen_random_uuid(),
        jsonb_build_object('id', NULL, 'messages', u.message_seq))
    FROM accounts_enduser u
    WHERE u.id = NEW.end_user_id AND u.extracted_seq = u.message_seq AND NOT EXISTS (
        SELECT FROM memories_batch b WHERE b.end_user_id = u.id
            AND b.state IN ('pending', 'running', 'submitted', 'failed'));
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_processed AFTER UPDATE ON memories_batch FOR EACH ROW
    WHEN (NEW.state = 'done' AND OLD.state <> 'done') EXECUTE FUNCTION webhooks_processed();

-- The change that an event is part of is written last, by the same transaction.
CREATE FUNCTION webhooks_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE webhooks_delivery SET data = data || jsonb_build_object('change_id', NEW.id)
    WHERE transaction = pg_current_xact_id()::text::bigint AND end_user_id = NEW.end_user_id
        AND NOT data ? 'change_id'
        AND NEW.rows @> jsonb_build_array(jsonb_build_object('id', subject::text));
    RETURN NULL;
END $$;
CREATE TRIGGER webhooks_change AFTER INSERT OR UPDATE OF undone_at ON accounts_change
    FOR EACH ROW EXECUTE FUNCTION webhooks_change();
