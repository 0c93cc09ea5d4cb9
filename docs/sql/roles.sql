-- Two roles for the service: petstore_owner owns the tables and runs migrations, petstore_app serves requests and cannot change the schema.
-- Run this script as an administrator, connected to the service's database:
--
--   psql --set ON_ERROR_STOP=1 --file docs/sql/roles.sql "$ADMIN_URL"
-- The script can be run again at any time. Run it again after the first migration.

BEGIN;

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'petstore_owner') THEN
    CREATE ROLE petstore_owner LOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'petstore_app') THEN
    CREATE ROLE petstore_app LOGIN;
  END IF;
  EXECUTE format('REVOKE ALL ON DATABASE %I FROM PUBLIC', current_database());
  EXECUTE format('GRANT CONNECT ON DATABASE %I TO petstore_owner, petstore_app', current_database());
END
$$;

-- An administrator who is not a superuser, as in managed services, must be a member of the role to change what it owns.
GRANT petstore_owner TO CURRENT_USER;

REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE, CREATE ON SCHEMA public TO petstore_owner;
GRANT USAGE ON SCHEMA public TO petstore_app;

-- Transfers tables and functions that another role created earlier to petstore_owner.
DO $$
DECLARE
  statement text;
BEGIN
  FOR statement IN
    SELECT format('ALTER TABLE %s OWNER TO petstore_owner', oid::regclass) FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relowner <> 'petstore_owner'::regrole
    UNION ALL
    SELECT format('ALTER FUNCTION %s OWNER TO petstore_owner', oid::regprocedure) FROM pg_proc
    WHERE pronamespace = 'public'::regnamespace AND prorettype = 'trigger'::regtype
      AND proowner <> 'petstore_owner'::regrole
  LOOP
    EXECUTE statement;
  END LOOP;
END
$$;

-- Existing tables, and those that later migrations create.
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO petstore_app;
GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO petstore_app;
ALTER DEFAULT PRIVILEGES FOR ROLE petstore_owner IN SCHEMA public
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO petstore_app;
ALTER DEFAULT PRIVILEGES FOR ROLE petstore_owner IN SCHEMA public GRANT USAGE ON SEQUENCES TO petstore_app;

-- Tables that the service may only read, or only append to. These tables do not exist before the first migration.
DO $$
BEGIN
  IF to_regclass('public.migrations') IS NOT NULL THEN
    REVOKE INSERT, UPDATE, DELETE ON public.migrations FROM petstore_app;
    REVOKE UPDATE, DELETE ON public.audit_entries FROM petstore_app;
  END IF;
END
$$;

-- Behind a pooler in transaction mode, only the role can have timeouts; elsewhere the service sets its own.
ALTER ROLE petstore_app SET statement_timeout = '1s';
ALTER ROLE petstore_app SET lock_timeout = '500ms';
ALTER ROLE petstore_app SET idle_in_transaction_session_timeout = '3s';

COMMIT;
