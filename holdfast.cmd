@echo off
rem Runs Holdfast with the arguments given. Builds it first, with the Maven on PATH, if it is not built.
rem JAVA_HOME, or java on PATH, must be a JDK 25 or newer.
setlocal
set "JAR=%~dp0target\quarkus-app\quarkus-run.jar"
set "JAVA=java"
if defined JAVA_HOME set "JAVA=%JAVA_HOME%\bin\java"
if not exist "%JAR%" (
  echo holdfast: building Holdfast, which takes a minute or two 1>&2
  call mvn -q -f "%~dp0pom.xml" -Dmaven.test.skip package 1>&2 <nul || exit /b 1
)
"%JAVA%" -XX:+ExitOnOutOfMemoryError -jar "%JAR%" %*
